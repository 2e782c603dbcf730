// The bridge to clang's C++ libraries, with a C interface.
//
// Everything that depends on clang's C++ interface is in this file.

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/DiagnosticParse.h>
#include <clang/Basic/Version.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/ASTConsumers.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm-c/Core.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

// Prints the syntax tree into a string instead of standard output.
class PrintAst : public clang::ASTFrontendAction {
public:
  explicit PrintAst(std::string &text) : text(text) {}

protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &, llvm::StringRef) override {
    return clang::CreateASTDumper(std::make_unique<llvm::raw_string_ostream>(text), /*FilterString=*/"",
                                  /*DumpDecls=*/true, /*Deserialize=*/false, /*DumpLookups=*/false,
                                  /*DumpDeclTypes=*/false, clang::ADOF_Default);
  }

private:
  std::string &text;
};

// Extensions that clang does not know, but for which `#pragma OPENCL EXTENSION` must not warn.
class Extensions : public clang::PPCallbacks {
public:
  Extensions(clang::DiagnosticsEngine &diagnostics, const llvm::StringSet<> &names) : diagnostics(diagnostics), names(names) {}

  void PragmaOpenCLExtension(clang::SourceLocation name_place, const clang::IdentifierInfo *name, clang::SourceLocation end,
                             unsigned) override {
    if (names.contains(name->getName())) {
      diagnostics.pushMappings(name_place);
      for (auto warning : {clang::diag::warn_pragma_unknown_extension, clang::diag::warn_pragma_unsupported_extension}) {
        diagnostics.setSeverity(warning, clang::diag::Severity::Ignored, name_place);
      }
      diagnostics.popMappings(end);
    }
  }

private:
  clang::DiagnosticsEngine &diagnostics;
  const llvm::StringSet<> &names;
};

// A front-end action with support for these extensions.
template <class Action> class WithExtensions : public Action {
public:
  template <class Argument> WithExtensions(const llvm::StringSet<> &names, Argument &&argument) : Action(argument), names(names) {}

protected:
  bool BeginSourceFileAction(clang::CompilerInstance &instance) override {
    instance.getPreprocessor().addPPCallbacks(std::make_unique<Extensions>(instance.getDiagnostics(), names));
    return Action::BeginSourceFileAction(instance);
  }

private:
  const llvm::StringSet<> &names;
};

char *copy(const std::string &text) {
  char *result = static_cast<char *>(std::malloc(text.size() + 1));
  std::memcpy(result, text.c_str(), text.size() + 1);
  return result;
}

} // namespace

extern "C" {

// A file in memory.
struct GenclFile {
  const char *path;
  const char *data;
  size_t size;
};

// Runs clang's front end on `source` with `arguments` (those of `clang -cc1`) on a file system in which
// `files` overlay the real one. `source->path` is the name that diagnostics show. `extensions` are those of
// the device, with spaces between.
//
// Sets `*log` to the diagnostics, `*read` to the names of included files, one per line, and `*ast` to the
// syntax tree unless `ast` is null; the caller frees all with `free`. Returns the module, which belongs to
// the caller, or null after errors.
LLVMModuleRef gencl_clang(LLVMContextRef context, const char *const *arguments, size_t argument_count, const char *extensions,
                          const GenclFile *source, const GenclFile *files, size_t file_count, char **log,
                          char **read, char **ast) {
  auto buffer = [](const GenclFile &file) {
    return llvm::MemoryBuffer::getMemBuffer({file.data, file.size}, file.path);
  };
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (size_t i = 0; i < file_count; ++i) {
    memory->addFile(files[i].path, 0, buffer(files[i]));
  }
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
  overlay->pushOverlay(memory);
  auto source_buffer = buffer(*source);

  std::string log_text;
  llvm::raw_string_ostream stream(log_text);
  auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  clang::TextDiagnosticPrinter printer(stream, options.get());
  clang::DiagnosticsEngine diagnostics(llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(), options, &printer,
                                       /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  bool good = clang::CompilerInvocation::CreateFromArgs(*invocation, llvm::ArrayRef(arguments, argument_count),
                                                        diagnostics);
  invocation->getFrontendOpts().Inputs = {
      clang::FrontendInputFile(source_buffer->getMemBufferRef(), clang::InputKind(clang::Language::OpenCL))};

  llvm::SmallVector<llvm::StringRef, 32> names;
  llvm::StringRef(extensions).split(names, ' ');
  llvm::StringSet<> known;
  known.insert(names.begin(), names.end());

  auto included = std::make_shared<clang::DependencyCollector>();
  auto run = [&](clang::FrontendAction &action) {
    clang::CompilerInstance instance;
    instance.setInvocation(invocation);
    instance.createFileManager(overlay);
    instance.addDependencyCollector(included);
    instance.createDiagnostics(&printer, /*ShouldOwnClient=*/false);
    // Discards "1 error generated.".
    instance.setVerboseOutputStream(std::make_unique<llvm::raw_null_ostream>());
    return instance.ExecuteAction(action);
  };

  if (ast) {
    std::string ast_text;
    if (good) {
      WithExtensions<PrintAst> action(known, ast_text);
      good = run(action);
      // The next run, for the module, repeats the diagnostics.
      if (good) {
        log_text.clear();
      }
    }
    *ast = copy(ast_text);
  }
  LLVMModuleRef result = nullptr;
  if (good) {
    WithExtensions<clang::EmitLLVMOnlyAction> action(known, llvm::unwrap(context));
    if (run(action)) {
      result = llvm::wrap(action.takeModule().release());
    }
  }
  std::string files_read;
  for (const std::string &name : included->getDependencies()) {
    if (name != source->path) {
      files_read += name + "\n";
    }
  }
  *read = copy(files_read);
  *log = copy(log_text);
  return result;
}

// The version of clang. Lives as long as the process.
const char *gencl_clang_version() {
  static const std::string version = clang::getClangFullVersion();
  return version.c_str();
}

} // extern "C"
