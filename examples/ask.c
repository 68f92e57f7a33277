/* Asks a model one question from C.
 *   ask_c MODEL.gguf "QUESTION" */

#include <stdio.h>
#include <tandem/tandem.h>

static bool print_text(const char* text, size_t n_bytes, void* user) {
  (void)user;
  fwrite(text, 1, n_bytes, stdout);
  return true;
}

static int fail(void) {
  fprintf(stderr, "%s\n", tandem_last_error());
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODEL.gguf QUESTION\n", argv[0]);
    return 2;
  }
  tandem_model* model = NULL;
  if (tandem_model_load(argv[1], NULL, &model) != 0) return fail();
  tandem_session* session = NULL;
  if (tandem_session_create(model, &session) != 0) {
    tandem_model_free(model);
    return fail();
  }
  tandem_generation_options options = tandem_default_generation_options();
  options.max_tokens = 100;
  options.temperature = 0;
  const int outcome = tandem_session_ask(session, argv[2], &options, print_text, NULL);
  printf("\n");
  tandem_session_free(session);
  tandem_model_free(model);
  return outcome == 0 ? 0 : fail();
}
