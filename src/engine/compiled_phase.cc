#include "engine/compiled_phase.h"

#include "engine/split_linear.h"

namespace tandem {

Event start(const CompiledSegment& segment, const Bindings& bindings) {
  if (segment.split != nullptr) return segment.split->enqueue(bindings);
  return segment.device->enqueue(*segment.executable, bindings, {});
}

}  // namespace tandem
