// Unrolls loops over small private arrays.
//
// Each access to an array in private memory is a message. If a loop that indexes it is unrolled, the indices
// are constant and the array's elements are registers. LLVM's thresholds consider code size only, as on a
// CPU, where such an array is in the cache.
//
// Indices such as `i & 15` are constant after unrolling by 16, so that a long loop need not be unrolled
// completely.

#include "analyses.h"

#include <llvm-c/Core.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Support/Error.h>
#include <llvm/Transforms/Scalar/LoopBoundSplit.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include <numeric>

namespace {

// The largest array in bytes: 32 registers of four bytes in each lane are half of the register file with 16
// lanes. A larger one may still fit, if not all of it is live at once.
constexpr uint64_t largest_array = 512;
// Maximum size of an array with dynamic indices, which can be promoted to a vector (`promote.cpp`).
constexpr uint64_t largest_vector = 32;
// Maximum number of instructions of a loop after unrolling.
constexpr uint64_t largest_loop = 8192;
// The same if partial unrolling makes all indices constant.
constexpr uint64_t largest_periodic_loop = 1024;

// Instructions that take the place of a call which is inlined after unrolling, as `library.rs` says.
constexpr uint64_t late_call = 100;

// The number of a block's instructions.
uint64_t size_of(const llvm::BasicBlock &block) {
  uint64_t late = llvm::count_if(block, [](const llvm::Instruction &instruction) {
    const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
    return callee && callee->getName().starts_with("__gencl_late_");
  });
  return block.size() + late * late_call;
}

// The size in bytes of a sufficiently small array in private memory; 0 for other pointers.
uint64_t small_array_size(const llvm::Value *object, const llvm::DataLayout &layout) {
  const auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(object);
  auto size = alloca ? alloca->getAllocationSize(layout) : std::nullopt;
  return size && size->getFixedValue() <= largest_array ? size->getFixedValue() : 0;
}

// Values that are constant when all loops are unrolled, as they depend on constants only.
class Knowable {
public:
  Knowable(llvm::Function &function, llvm::FunctionAnalysisManager &analyses)
      : loops(analyses.getResult<llvm::LoopAnalysis>(function)), dominators(analyses.getResult<llvm::DominatorTreeAnalysis>(function)) {}

  bool operator()(const llvm::Value *value) const {
    llvm::SmallPtrSet<const llvm::Value *, 32> sources;
    llvm::SmallVector<const llvm::Value *> open{value};
    while (!open.empty()) {
      const llvm::Value *source = open.pop_back_val();
      if (llvm::isa<llvm::Constant>(source) || llvm::isa<llvm::AllocaInst>(source) || !sources.insert(source).second) {
        continue;
      }
      const auto *instruction = llvm::dyn_cast<llvm::Instruction>(source);
      if (!instruction || is_found_out(*instruction)) {
        return false;
      }
      open.append(instruction->value_op_begin(), instruction->value_op_end());
      if (const auto *phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
        append_deciders(*phi, open);
      }
    }
    return true;
  }

private:
  // Whether a value depends on inputs, or on memory that is not constant.
  static bool is_found_out(const llvm::Instruction &instruction) {
    if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      const auto *table = llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(load->getPointerOperand()));
      return !table || !table->isConstant() || !table->hasInitializer();
    }
    const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return instruction.mayReadOrWriteMemory() || (call && !llvm::isa<llvm::IntrinsicInst>(call));
  }

  // The conditions that select a phi's value: those of its loop's exits, or of the branch whose paths join
  // here.
  void append_deciders(const llvm::PHINode &phi, llvm::SmallVectorImpl<const llvm::Value *> &deciders) const {
    const llvm::BasicBlock *block = phi.getParent();
    llvm::SmallVector<llvm::BasicBlock *> parting;
    if (loops.isLoopHeader(block)) {
      loops.getLoopFor(block)->getExitingBlocks(parting);
    } else if (const auto *node = dominators.getNode(block); node && node->getIDom()) {
      parting.push_back(node->getIDom()->getBlock());
    }
    for (const llvm::BasicBlock *above : parting) {
      // For branches and switches.
      const llvm::Instruction *end = above->getTerminator();
      if (end->getNumSuccessors() > 1) {
        deciders.push_back(end->getOperand(0));
      }
    }
  }

  const llvm::LoopInfo &loops;
  const llvm::DominatorTree &dominators;
};

// The addresses in small private arrays that a loop accesses and that depend on its induction variables. Not
// in arrays that stay in memory because they also have dynamic indices.
llvm::SmallVector<const llvm::Value *> small_array_accesses(const llvm::Loop &loop, const Knowable &knowable, const llvm::DataLayout &layout) {
  llvm::SmallVector<std::pair<const llvm::Value *, const llvm::Value *>> accesses;
  llvm::SmallPtrSet<const llvm::Value *, 4> staying;
  for (const llvm::BasicBlock *block : loop.blocks()) {
    for (const llvm::Instruction &instruction : *block) {
      const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&instruction);
      const llvm::Value *array = pointer ? llvm::getUnderlyingObject(pointer) : nullptr;
      const uint64_t size = array ? small_array_size(array, layout) : 0;
      if (size == 0) {
        continue;
      }
      if (size > largest_vector && !knowable(pointer)) {
        staying.insert(array);
      } else if (!loop.isLoopInvariant(pointer)) {
        accesses.emplace_back(pointer, array);
      }
    }
  }
  llvm::SmallVector<const llvm::Value *> pointers;
  for (const auto &[pointer, array] : accesses) {
    if (!staying.contains(array)) {
      pointers.push_back(pointer);
    }
  }
  return pointers;
}

// The period of an index in iterations of the loop, or 0 if unknown.
uint64_t period(const llvm::Value *index, const llvm::Loop &loop, llvm::ScalarEvolution &evolution) {
  using namespace llvm::PatternMatch;
  if (loop.isLoopInvariant(index)) {
    return 1;
  }
  llvm::Value *source = nullptr;
  if (match(index, m_ZExtOrSExt(m_Value(source))) || match(index, m_Trunc(m_Value(source)))) {
    return period(source, loop, evolution);
  }
  const llvm::APInt *mask = nullptr;
  if (!match(index, m_And(m_Value(source), m_LowBitMask(mask)))) {
    return 0;
  }
  const auto *progress = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(source));
  const auto *step = progress && progress->getLoop() == &loop && progress->isAffine()
                         ? llvm::dyn_cast<llvm::SCEVConstant>(progress->getStepRecurrence(evolution))
                         : nullptr;
  if (!step || mask->uge(largest_array)) {
    return 0;
  }
  const uint64_t length = mask->getZExtValue() + 1;
  return length / std::gcd(length, step->getAPInt().abs().getLimitedValue());
}

// The common period of all addresses in iterations, or 0 if unknown.
uint64_t period(llvm::ArrayRef<const llvm::Value *> pointers, const llvm::Loop &loop, llvm::ScalarEvolution &evolution) {
  uint64_t common = 1;
  for (const llvm::Value *pointer : pointers) {
    for (; !loop.isLoopInvariant(pointer); pointer = llvm::cast<llvm::GEPOperator>(pointer)->getPointerOperand()) {
      const auto *element = llvm::dyn_cast<llvm::GEPOperator>(pointer);
      if (!element) {
        return 0;
      }
      for (const llvm::Value *index : element->indices()) {
        const uint64_t own = period(index, loop, evolution);
        if (own == 0) {
          return 0;
        }
        common = std::lcm(common, own);
      }
    }
  }
  return common;
}

bool has_hint(const llvm::Loop &loop) {
  for (const char *name : {"llvm.loop.unroll.disable", "llvm.loop.unroll.enable", "llvm.loop.unroll.full", "llvm.loop.unroll.count"}) {
    if (loop.getLoopID() && llvm::GetUnrollMetadata(loop.getLoopID(), name)) {
      return true;
    }
  }
  return false;
}

// Hides values from scalar evolution while a loop is unrolled. After partial unrolling, LLVM looks for
// induction variables. For a loop that mixes its values, as hashes do, scalar evolution would build the
// expressions of all unrolled iterations for each value, and discard those that depend on a value that is
// simplified.
constexpr char curtain[] = "gencl.curtain";

// Hides the integers that are carried from iteration to iteration, except induction variables: they pass
// through a vector, for which there is no scalar evolution, and through `freeze`, so that it is not folded.
void hide(llvm::Loop &loop, llvm::ScalarEvolution &evolution) {
  llvm::BasicBlock *latch = loop.getLoopLatch();
  if (!latch) {
    return;
  }
  llvm::IRBuilder<> builder(latch->getTerminator());
  for (llvm::PHINode &phi : loop.getHeader()->phis()) {
    llvm::Type *type = phi.getType();
    auto *next = llvm::dyn_cast<llvm::Instruction>(phi.getIncomingValueForBlock(latch));
    if (!next || !type->isIntegerTy() || llvm::isa<llvm::SCEVAddRecExpr>(evolution.getSCEV(&phi))) {
      continue;
    }
    llvm::Value *value = builder.CreateFreeze(builder.CreateBitCast(next, llvm::FixedVectorType::get(type, 1)));
    value = builder.CreateBitCast(value, type);
    phi.setIncomingValueForBlock(latch, value);
    for (; value != next; value = llvm::cast<llvm::Instruction>(value)->getOperand(0)) {
      llvm::cast<llvm::Instruction>(value)->setMetadata(curtain, llvm::MDNode::get(phi.getContext(), {}));
    }
  }
}

// The hidden value, or the value itself if it is not hidden.
llvm::Value *shown(llvm::Value *value) {
  auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
  return instruction && instruction->hasMetadata(curtain) ? shown(instruction->getOperand(0)) : value;
}

// Undoes `hide`, also in copies of the loop's body.
void show(llvm::Function &function) {
  llvm::SmallVector<llvm::WeakTrackingVH> unused;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    llvm::Value *value = shown(&instruction);
    if (value != &instruction && value->getType() == instruction.getType()) {
      instruction.replaceAllUsesWith(value);
      unused.push_back(&instruction);
    }
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
}

// Marks a loop and those within. Returns its instructions after unrolling.
uint64_t mark(llvm::Loop &loop, const Knowable &knowable, llvm::ScalarEvolution &evolution, const llvm::DataLayout &layout) {
  uint64_t instructions = 0;
  for (const llvm::BasicBlock *block : loop.blocks()) {
    instructions += size_of(*block);
  }
  for (llvm::Loop *inner : loop) {
    uint64_t once = 0;
    for (const llvm::BasicBlock *block : inner->blocks()) {
      once += size_of(*block);
    }
    instructions += mark(*inner, knowable, evolution, layout) - once;
  }
  const auto accesses = small_array_accesses(loop, knowable, layout);
  if (accesses.empty() || has_hint(loop)) {
    return instructions;
  }
  const uint64_t count = evolution.getSmallConstantTripCount(&loop);
  if (count < 2) {
    return instructions;
  }
  if (instructions * count > largest_periodic_loop) {
    const uint64_t rounds = period(accesses, loop, evolution);
    if (rounds > 1 && count > rounds && count % rounds == 0 && instructions * rounds <= largest_loop) {
      llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", rounds);
      hide(loop, evolution);
      return instructions * rounds;
    }
  }
  if (instructions * count <= largest_loop) {
    llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full", 1);
    return instructions * count;
  }
  return instructions;
}

// The induction variable that the branch at the end of a block compares, or null.
const llvm::SCEVAddRecExpr *compared(const llvm::BasicBlock &block, const llvm::Loop &loop, llvm::ScalarEvolution &evolution) {
  const auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  const auto *comparison = branch && branch->isConditional() ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
  if (!comparison) {
    return nullptr;
  }
  for (llvm::Value *operand : comparison->operands()) {
    const auto *induction = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(operand));
    if (induction && induction->getLoop() == &loop) {
      return induction;
    }
  }
  return nullptr;
}

// Whether a loop's exit compares the value of the next iteration of what each condition within compares.
bool exits_by_next_value(const llvm::Loop &loop, llvm::ScalarEvolution &evolution) {
  const llvm::BasicBlock *latch = loop.getLoopLatch();
  const llvm::SCEVAddRecExpr *exit = latch ? compared(*latch, loop, evolution) : nullptr;
  return exit && llvm::all_of(loop.blocks(), [&](const llvm::BasicBlock *block) {
           const llvm::SCEVAddRecExpr *within = block == latch ? nullptr : compared(*block, loop, evolution);
           return !within || within->getPostIncExpr(evolution) == exit;
         });
}

// Splits loops with a condition that separates the first iterations from the rest. Only those with a constant
// trip count: for others that end by an equality comparison, LLVM's pass creates infinite loops if there is
// only one iteration. And only where the exit compares the next value: LLVM's pass takes it for granted, and
// would split others an iteration too late.
struct SplitKnownLoops : llvm::PassInfoMixin<SplitKnownLoops> {
  llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &analyses, llvm::LoopStandardAnalysisResults &results,
                              llvm::LPMUpdater &updater) {
    if (results.SE.getSmallConstantTripCount(&loop) < 2 || !exits_by_next_value(loop, results.SE)) {
      return llvm::PreservedAnalyses::all();
    }
    return llvm::LoopBoundSplitPass().run(loop, analyses, results, updater);
  }
};

// Whether a loop of the function indexes a small private array by its induction variables.
bool has_candidates(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
  const llvm::DataLayout &layout = function.getDataLayout();
  const Knowable knowable(function, analyses);
  return llvm::any_of(analyses.getResult<llvm::LoopAnalysis>(function), [&](const llvm::Loop *loop) {
    return !small_array_accesses(*loop, knowable, layout).empty();
  });
}

} // namespace

extern "C" {

// Unrolls loops over small private arrays, unless they have unrolling pragmas.
void gencl_unroll_loops(LLVMModuleRef module) {
  Analyses analyses;
  llvm::FunctionPassManager before, unroll;
  before.addPass(llvm::createFunctionToLoopPassAdaptor(SplitKnownLoops()));
  llvm::cantFail(analyses.builder.parsePassPipeline(before, "instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify"));
  unroll.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2, /*OnlyWhenForced=*/true)));
  for (llvm::Function &function : *llvm::unwrap(module)) {
    if (function.isDeclaration() || !has_candidates(function, analyses.functions)) {
      continue;
    }
    auto run = [&](llvm::FunctionPassManager &passes) {
      analyses.functions.invalidate(function, passes.run(function, analyses.functions));
    };
    run(before);
    const Knowable knowable(function, analyses.functions);
    auto &evolution = analyses.functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (llvm::Loop *loop : analyses.functions.getResult<llvm::LoopAnalysis>(function)) {
      mark(*loop, knowable, evolution, function.getDataLayout());
    }
    run(unroll);
    show(function);
  }
}

} // extern "C"
