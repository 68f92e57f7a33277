// Asks a model one question from C++.
//   ask MODEL.gguf "QUESTION"

#include <cstdio>
#include <tandem/tandem.hpp>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL.gguf QUESTION\n", argv[0]);
    return 2;
  }
  auto model = tandem::api::Model::load(argv[1]);
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().message.c_str());
    return 1;
  }
  auto session = model->create_session();
  if (!session) {
    std::fprintf(stderr, "%s\n", session.error().message.c_str());
    return 1;
  }
  const auto print = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return true;
  };
  auto reply = session->ask(argv[2], {.max_tokens = 100, .temperature = 0}, print);
  if (!reply) {
    std::fprintf(stderr, "%s\n", reply.error().message.c_str());
    return 1;
  }
  std::printf("\n[%zu tokens, %s]\n", reply->tokens.size(), reply->finish_reason.c_str());
  return 0;
}
