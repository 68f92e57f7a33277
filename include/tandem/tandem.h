/* Tandem's C interface: opaque handles over the C++ interface of tandem.hpp.
 *
 *   tandem_model* model = NULL;
 *   if (tandem_model_load("model.gguf", NULL, &model) != 0) puts(tandem_last_error());
 *   tandem_session* session = NULL;
 *   tandem_session_create(model, &session);
 *   tandem_session_ask(session, "Hello", NULL, on_text, NULL);
 *   tandem_session_free(session);
 *   tandem_model_free(model);
 *
 * Functions that can fail return 0, or a negative number after which tandem_last_error() tells why.
 * A model may be shared by threads; a session belongs to one thread at a time,
 * tandem_session_cancel excepted. A model must outlive its sessions' creation only, not the
 * sessions. Strings are UTF-8. */
#ifndef TANDEM_TANDEM_H
#define TANDEM_TANDEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tandem_model tandem_model;
typedef struct tandem_session tandem_session;

typedef struct tandem_model_options {
  uint32_t context;       /* positions of a session; 0: the model's, at most 32768 */
  int32_t threads;        /* compute threads; 0: all processors */
  const char* isa;        /* as --isa of the command: "scalar", "avx2" and so on; NULL: the best */
  uint32_t prefill_chunk; /* prompt tokens computed together; 0: 256 */
  bool check_finite;      /* stop at the first NaN or infinity */
  const char* precision;  /* of nested files: "int4", "int8"; NULL: what the file holds */
  const char* compile_cache; /* folder that keeps packed weights between runs; NULL: none */
} tandem_model_options;

typedef struct tandem_generation_options {
  int32_t max_tokens;   /* -1: until the model ends or the context is full */
  float temperature;    /* 0: always the most likely token */
  int32_t top_k;        /* 0: off */
  float top_p;          /* 1: off */
  float min_p;          /* 0: off */
  float repeat_penalty; /* 1: off */
  bool has_seed;
  uint64_t seed;
} tandem_generation_options;

/* Text as it is generated; return false to stop. `text` is valid during the call. */
typedef bool (*tandem_text_callback)(const char* text, size_t n_bytes, void* user);
/* The logits after token `index`, `n` of them; valid during the call. */
typedef void (*tandem_logits_callback)(size_t index, const float* logits, size_t n, void* user);

/* "0.1.0" */
const char* tandem_version(void);
/* Why the last failed call of this thread failed; valid until its next failing call. */
const char* tandem_last_error(void);
/* What tandem_session_ask uses when it is given no options. */
tandem_generation_options tandem_default_generation_options(void);

/* `options` may be NULL. */
int tandem_model_load(const char* path, const tandem_model_options* options, tandem_model** model);
void tandem_model_free(tandem_model* model);
uint32_t tandem_model_vocabulary(const tandem_model* model);
uint32_t tandem_model_context(const tandem_model* model);

/* Writes at most `capacity` ids and returns how many the text has, or a negative number. */
int64_t tandem_tokenize(const tandem_model* model, const char* text, size_t n_bytes,
                        bool parse_special, int32_t* tokens, size_t capacity);
/* Writes at most `capacity` bytes, without a terminating zero, and returns how many there are. */
int64_t tandem_detokenize(const tandem_model* model, const int32_t* tokens, size_t n, char* text,
                          size_t capacity);

int tandem_session_create(const tandem_model* model, tandem_session** session);
void tandem_session_free(tandem_session* session);

/* A user's message, answered with the model's chat template. */
int tandem_session_ask(tandem_session* session, const char* message,
                       const tandem_generation_options* options, tandem_text_callback on_text,
                       void* user);
/* Continues the text as it is. */
int tandem_session_complete(tandem_session* session, const char* text,
                            const tandem_generation_options* options, tandem_text_callback on_text,
                            void* user);

/* Computes tokens; tandem_session_logits then belong to the last of them. */
int tandem_session_append(tandem_session* session, const int32_t* tokens, size_t n);
/* As tandem_session_append; visits the logits after each token. */
int tandem_session_append_visiting(tandem_session* session, const int32_t* tokens, size_t n,
                                   tandem_logits_callback visit, void* user);
/* After the last token, or NULL; valid until the session's next call. */
const float* tandem_session_logits(const tandem_session* session);
uint32_t tandem_session_n_tokens(const tandem_session* session);
void tandem_session_truncate(tandem_session* session, uint32_t n);
/* From any thread. */
void tandem_session_cancel(tandem_session* session);
int tandem_session_save(const tandem_session* session, const char* path);
int tandem_session_load(tandem_session* session, const char* path);

#ifdef __cplusplus
}
#endif

#endif /* TANDEM_TANDEM_H */
