// Lowers nodes to DMA, array and vector commands.

#include "soc/npu_run.h"

#include <algorithm>
#include <cmath>

namespace tandem::soc {
namespace {

constexpr double kBitsPerByte = 8;
constexpr uint64_t kMaxTiles = 4096;          ///< of a node: bounds the simulation's own time
constexpr uint64_t kSmallestBufferPart = 16;  ///< of free SRAM
constexpr uint64_t kAttentionPieces = 8;  ///< so that softmax of one overlaps products of another

uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/// One row of a product's inputs and outputs.
double row_bytes(const Work& work) {
  return double(work.k + work.n) * bits_of(work.activations) / kBitsPerByte;
}

PowerStateProfile active_state(const NpuProfile& npu, size_t index) {
  std::vector<PowerStateProfile> active;
  for (const PowerStateProfile& state : npu.power_states) {
    if (state.kind == PowerKind::kActive) active.push_back(state);
  }
  return active.at(std::min(index, active.size() - 1));
}

double available_bandwidth(const SocProfile& soc, const NpuProfile& npu, double others) {
  if (npu.dma.near_memory) return npu.dma.max_bytes_per_s;
  const double left =
      std::max(soc.dram.usable_bytes_per_s - others, soc.dram.usable_bytes_per_s / kBitsPerByte);
  return std::min(npu.dma.max_bytes_per_s, left);
}

}  // namespace

NpuRun::NpuRun(const SocProfile& soc, const NpuProfile& npu, std::span<const Work> list,
               const Conditions& conditions)
    : soc_(soc),
      npu_(npu),
      list_(list),
      conditions_(conditions),
      state_(active_state(npu, conditions.power_state)),
      array_hz_(npu.array.clock_hz * state_.clock_scale * conditions.clock_scale),
      vector_hz_(npu.vector.clock_hz * state_.clock_scale * conditions.clock_scale),
      bytes_per_s_(available_bandwidth(soc, npu, conditions.other_bytes_per_s)),
      clock_(conditions.with_spans),
      sram_(static_cast<uint64_t>(npu.sram_bytes)) {}

/// A quarter of what is free, or less where the rows of every product then fit beside two buffers:
/// cutting rows means streaming weights again for each block.
uint64_t NpuRun::choose_buffer_bytes() const {
  const uint64_t room = sram_.largest_hole();
  double widest = 0;
  for (const Work& work : list_) {
    if (work.op == Op::kLinear) widest = std::max(widest, double(work.m) * row_bytes(work));
  }
  for (uint64_t part = 4; part <= kSmallestBufferPart; part *= 2) {
    if (widest <= double(room - 2 * (room / part))) return room / part;
  }
  return room / 4;
}

void NpuRun::place_buffers() {
  uint64_t resident = 0;
  for (const Work& work : list_) resident += work.resident ? work.weight_bytes : 0;
  if (resident > 0) sram_.allocate(std::min(resident, sram_.capacity()));
  buffer_bytes_ = choose_buffer_bytes();
  sram_.allocate(buffer_bytes_);
  sram_.allocate(buffer_bytes_);
  activation_bytes_ = sram_.largest_hole();
}

NpuRun::Id NpuRun::read(uint32_t index, uint64_t bytes, Id after) {
  if (bytes == 0) return after;
  cost_.read_bytes += bytes;
  sram_bytes_moved_ += double(bytes);
  const double seconds = double(bytes) / bytes_per_s_;
  // One channel waits for its data before it asks for more; several hide each other's latency.
  const bool hidden = npu_.dma.channels > 1;
  const Id waits[] = {after, start_};
  return clock_.issue({.lane = Lane::kDmaIn,
                       .work = index,
                       .seconds = seconds + (hidden ? 0 : npu_.dma.latency_s),
                       .latency_s = hidden ? npu_.dma.latency_s : 0,
                       .bytes = bytes},
                      waits);
}

NpuRun::Id NpuRun::write(uint32_t index, uint64_t bytes, Id after) {
  if (bytes == 0) return after;
  cost_.written_bytes += bytes;
  sram_bytes_moved_ += double(bytes);
  const double seconds = double(bytes) / bytes_per_s_;
  clock_.steal(Lane::kDmaIn, seconds);  // one bus for both directions
  const Id waits[] = {after, start_};
  return clock_.issue({.lane = Lane::kDmaOut,
                       .work = index,
                       .seconds = seconds,
                       .latency_s = npu_.dma.latency_s,
                       .bytes = bytes},
                      waits);
}

NpuRun::Id NpuRun::vector_ops(uint32_t index, double ops, std::initializer_list<Id> after) {
  const double rate = npu_.vector.lanes * vector_hz_ * npu_.vector.efficiency;
  cost_.energy.compute += ops * npu_.joules_per_vector_op;
  return clock_.issue({.lane = Lane::kVector, .work = index, .seconds = ops / rate},
                      {after.begin(), after.size()});
}

NpuRun::Id NpuRun::multiply(uint32_t index, const Placement& placement,
                            std::initializer_list<Id> after) {
  const Work& work = list_[index];
  if (placement.lane == Lane::kArray) {
    cost_.array_cycles += placement.counts.cycles;
    cost_.input_reads += placement.counts.input_reads;
    cost_.filter_reads += placement.counts.filter_reads;
    cost_.output_writes += placement.counts.output_writes;
    const double operands = double(placement.counts.input_reads + placement.counts.output_writes);
    sram_bytes_moved_ +=
        operands * bits_of(work.activations) / kBitsPerByte +
        double(placement.counts.filter_reads) * bits_of(work.weights) / kBitsPerByte;
  }
  return clock_.issue({.lane = placement.lane, .work = index, .seconds = placement.seconds},
                      {after.begin(), after.size()});
}

NpuRun::Loaded NpuRun::load(uint32_t index, uint64_t bytes, double weights_to_unpack,
                            bool resident) {
  const size_t buffer = next_buffer_;
  next_buffer_ = 1 - next_buffer_;
  Id ready = resident ? start_ : read(index, bytes, buffer_user_[buffer]);
  if (weights_to_unpack > 0) {
    const Id waits[] = {ready};
    ready = clock_.issue({.lane = Lane::kVector,
                          .work = index,
                          .seconds = weights_to_unpack / npu_.vector.unpack_weights_per_s},
                         waits);
  }
  return {buffer, ready};
}

NpuRun::Placement NpuRun::place(const Work& work, const Product& product, uint32_t instances,
                                NumericType weights) const {
  const double macs = double(product.m) * double(product.n) * double(product.k) * instances;
  const auto vector_rate = find(npu_.vector.macs_per_cycle, work.activations);
  const double on_vector =
      macs / ((vector_rate ? *vector_rate : npu_.vector.lanes / 4) * vector_hz_);
  const auto passes = passes_for(npu_.array, work.activations, weights);
  if (!passes) return {Lane::kVector, on_vector, {}};
  ArrayRun run = run_array(npu_.array, product, *passes);
  if (instances > 1) {
    const double per_fold = fold_grid(npu_.array, product, *passes).cycles_per_fold;
    run.folds *= instances;
    run.cycles =
        static_cast<uint64_t>(std::ceil(double(ceil_div(run.folds, npu_.array.count)) * per_fold));
    run.input_reads *= instances;
    run.filter_reads *= instances;
    run.output_writes *= instances;
  }
  const double on_array = double(run.cycles) / (array_hz_ * npu_.array.mac_efficiency);
  const bool may_use_vector = vector_rate && product.m <= npu_.vector.max_matmul_rows;
  if (may_use_vector && on_vector < on_array) return {Lane::kVector, on_vector, {}};
  return {Lane::kArray, on_array, run};
}

uint64_t NpuRun::rows_at_once(const Work& work) const {
  const auto fit =
      static_cast<uint64_t>(double(activation_bytes_) / std::max(row_bytes(work), 1.0));
  if (fit >= work.m) return work.m;
  // Whole folds in either direction, so that cutting does not change their count.
  const uint64_t unit = std::max({npu_.array.rows, npu_.array.columns, npu_.array.min_stream});
  return std::max(fit / unit * unit, std::min<uint64_t>(unit, work.m));
}

std::vector<NpuRun::Tile> NpuRun::cut(const Work& work, uint64_t rows) const {
  const uint64_t k = work.nonzero_k ? work.nonzero_k : work.k;
  const double column_bytes = double(work.weight_bytes) / double(work.n);
  // Buffers far too small for a node would make millions of commands: then they count as larger.
  const double room =
      std::max({double(buffer_bytes_), double(work.weight_bytes) / double(kMaxTiles), 1.0});
  const uint64_t columns = npu_.array.columns;
  uint64_t n_step = static_cast<uint64_t>(room / std::max(column_bytes, 1e-9));
  const uint64_t unit = n_step >= columns * npu_.array.count ? columns * npu_.array.count : columns;
  n_step = std::clamp<uint64_t>(n_step / unit * unit, columns, ceil_div(work.n, unit) * unit);
  uint64_t k_step = k;
  if (const double tile = column_bytes * double(n_step); tile > room) {
    const auto fit = static_cast<uint64_t>(room / tile * double(k));
    k_step = std::max<uint64_t>(fit / npu_.array.rows * npu_.array.rows, npu_.array.rows);
  }
  std::vector<Tile> out;
  uint64_t done = 0;
  for (uint64_t n = 0; n < work.n; n += n_step) {
    const uint64_t width = std::min(n_step, work.n - n);
    for (uint64_t first = 0; first < k; first += k_step) {
      const uint64_t depth = std::min(k_step, k - first);
      Tile tile{{rows, width, depth}, 0, double(width) / double(work.n)};
      const double part = (double(n) * double(k) + double(first + depth) * double(width)) /
                          (double(work.n) * double(k));
      const auto upto = static_cast<uint64_t>(std::llround(double(work.weight_bytes) * part));
      tile.bytes = upto - std::min(upto, done);
      done = std::max(done, upto);
      out.push_back(tile);
    }
  }
  return out;
}

void NpuRun::run_linear(uint32_t index, Id inputs) {
  const Work& work = list_[index];
  if (work.n == 0 || work.k == 0 || work.m == 0) return;
  const uint64_t step = rows_at_once(work);
  const bool unpack = npu_.vector.unpack_weights_per_s > 0 && !is_integer(work.activations) &&
                      is_integer(work.weights);
  const double requantize = vector_ops_of(work);
  Id end = inputs;
  for (uint64_t row = 0; row < work.m; row += step) {
    const uint64_t rows = std::min(step, work.m - row);
    const std::vector<Tile> tiles = cut(work, rows);
    const auto load_tile = [&](const Tile& tile) {
      const double weights = unpack ? double(tile.product.n) * double(tile.product.k) : 0;
      return load(index, tile.bytes, weights, work.resident);
    };
    Loaded next = load_tile(tiles[0]);
    for (size_t t = 0; t < tiles.size(); ++t) {
      const Loaded loaded = next;
      const Placement placement = place(work, tiles[t].product, 1, work.weights);
      const Id product = multiply(index, placement, {loaded.ready, inputs});
      buffer_user_[loaded.buffer] = product;
      if (placement.lane == Lane::kVector) sram_bytes_moved_ += double(tiles[t].bytes);
      // Before this tile's outputs are requantized, so that the vector unit can unpack it.
      if (t + 1 < tiles.size()) next = load_tile(tiles[t + 1]);
      const double share = double(rows) / double(work.m) * double(tiles[t].product.k) /
                           double(work.nonzero_k ? work.nonzero_k : work.k);
      end = vector_ops(index, requantize * tiles[t].share * share, {product});
    }
  }
  last_ = end;
}

void NpuRun::run_attention(uint32_t index, Id inputs) {
  const Work& work = list_[index];
  if (work.m == 0 || work.n == 0 || work.k == 0 || work.instances == 0) return;
  const uint64_t by_size = ceil_div(work.state_bytes, std::max<uint64_t>(buffer_bytes_, 1));
  const uint64_t wanted = std::max(by_size, std::min<uint64_t>(work.instances, kAttentionPieces));
  // Pieces are some positions of all heads, which keeps every array at work; where few positions
  // would leave columns empty, some heads each.
  const uint64_t side = std::max(npu_.array.rows, npu_.array.columns);
  const bool by_head = wanted <= work.instances && work.n < wanted * side;
  const uint64_t pieces = by_head ? wanted : std::min({wanted, work.n, kMaxTiles});
  const double softmax = vector_ops_of(work) / double(pieces);
  const auto part = [&](uint64_t whole, uint64_t piece) {
    return whole * (piece + 1) / pieces - whole * piece / pieces;
  };
  Id end = inputs;
  for (uint64_t piece = 0; piece < pieces; ++piece) {
    const auto heads =
        static_cast<uint32_t>(by_head ? part(work.instances, piece) : work.instances);
    const uint64_t seen = by_head ? work.n : part(work.n, piece);
    const Loaded cache = load(index, part(work.state_bytes, piece), 0, false);
    const Product qk{work.m, seen, work.k};
    const Product pv{work.m, work.k, seen};
    const Id scores =
        multiply(index, place(work, qk, heads, work.activations), {cache.ready, inputs});
    const Id weights = vector_ops(index, softmax, {scores});
    end = multiply(index, place(work, pv, heads, work.activations), {weights});
    buffer_user_[cache.buffer] = end;
  }
  last_ = end;
}

void NpuRun::run_elements(uint32_t index, Id inputs) {
  const Work& work = list_[index];
  const Id table = read(index, work.weight_bytes, inputs);
  last_ = vector_ops(index, vector_ops_of(work), {table, inputs});
}

void NpuRun::run_node(uint32_t index) {
  const Work& work = list_[index];
  const bool from_dram = spilled_ || (index == 0 && conditions_.inputs_in_dram);
  const Id inputs = from_dram ? read(index, work.input_bytes, last_) : last_;
  cost_.macs += macs_of(work);
  const auto mac_joules = find(npu_.joules_per_mac, work.activations);
  cost_.energy.compute += double(macs_of(work)) * mac_joules.value_or(0);
  if (work.op == Op::kLinear) {
    run_linear(index, inputs);
  } else if (work.op == Op::kAttention) {
    run_attention(index, inputs);
  } else {
    run_elements(index, inputs);
  }
  write(index, work.written_bytes, last_);
  const bool is_last = index + 1 == list_.size();
  spilled_ = work.output_bytes > activation_bytes_ && !is_last;
  if (spilled_ || (is_last && conditions_.outputs_to_dram)) {
    last_ = write(index, work.output_bytes, last_);
  }
}

void NpuRun::add_energy(double seconds) {
  Energy& energy = cost_.energy;
  energy.sram += sram_bytes_moved_ * npu_.joules_per_sram_byte;
  energy.dram += double(cost_.read_bytes + cost_.written_bytes) * soc_.dram.joules_per_byte;
  energy.unit += seconds * state_.watts;
  energy.host += cost_.launch_s * soc_.cpu.clusters[0].watts_per_core;
  energy.board += seconds * soc_.board_watts;
}

SegmentCost NpuRun::run() {
  place_buffers();
  cost_.launch_s = conditions_.launches * npu_.launch_s + conditions_.wake_s;
  const auto host = static_cast<uint32_t>(list_.size());
  start_ = clock_.issue({.lane = Lane::kHost, .work = host, .seconds = cost_.launch_s}, {});
  last_ = start_;
  for (uint32_t i = 0; i < list_.size(); ++i) run_node(i);
  cost_.seconds = clock_.now();
  for (int lane = 0; lane < kLanes; ++lane) {
    cost_.busy_s[lane] = clock_.busy(static_cast<Lane>(lane));
  }
  add_energy(cost_.seconds);
  cost_.spans = clock_.take_spans();
  return std::move(cost_);
}

}  // namespace tandem::soc
