//! `gencl`: one name for all tools. `gencl X` runs `gencl-X`, as git does.
//!
//! [`command`] describes the command line, also for man pages and completions.

pub mod cache;
pub mod diagnose;
pub mod tools;

use clap::{Arg, ArgAction, Command};

/// Options of `gencl diagnose`.
#[derive(clap::Args, Debug)]
pub struct DiagnoseArguments {
    /// Print everything as JSON.
    #[arg(long)]
    pub json: bool,
    /// Load a library, and print the names of its platforms or why it cannot be loaded. The diagnosis tries drivers so, in
    /// processes of their own.
    #[arg(long, hide = true, value_name = "LIBRARY")]
    pub load: Option<String>,
    /// The same for gencl's library: print its report on itself and the runs of the small kernel as JSON.
    #[arg(long, hide = true, value_name = "LIBRARY")]
    pub examine: Option<std::path::PathBuf>,
}

/// What `gencl cache` does.
#[derive(clap::Subcommand, Debug)]
pub enum CacheAction {
    /// Print where the kernel cache is, and its size.
    Info {
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove all kernels from the cache.
    Clear,
}

/// The name of the argument with the arguments of a tool.
pub const ARGUMENTS: &str = "arguments";

/// The name of the option that lists the tools.
pub const LIST: &str = "list";

/// The statuses of `gencl diagnose`.
const STATUSES: &str = "Exit status:
  0  everything works
  1  something is broken; the last lines say what, and what to do about it
  2  wrong arguments";

/// The command line. What is not a command here is a tool that [`tools::find`] looks for.
#[must_use]
pub fn command() -> Command {
    let diagnose = <DiagnoseArguments as clap::Args>::augment_args(Command::new("diagnose"))
        .about("Say what works, and what is wrong with this installation")
        .after_help(STATUSES);
    let cache = <CacheAction as clap::Subcommand>::augment_subcommands(Command::new("cache"))
        .about("Show or clear the kernel cache")
        .subcommand_required(true)
        .arg_required_else_help(true);
    Command::new("gencl")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Runs gencl's tools: `gencl X` runs gencl-X. `gencl X --help` describes one.")
        .arg(Arg::new(LIST).long(LIST).action(ArgAction::SetTrue).help("List the tools, and where they are"))
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .allow_external_subcommands(true)
        .subcommand(diagnose)
        .subcommand(cache)
        .subcommands(tools::TOOLS.iter().map(tool))
}

/// The command of a tool, which gets all arguments as they are.
fn tool(tool: &tools::Tool) -> Command {
    let arguments = Arg::new(ARGUMENTS).num_args(0..).trailing_var_arg(true).allow_hyphen_values(true);
    Command::new(tool.name)
        .about(tool.about)
        .disable_help_flag(true)
        .arg(arguments.value_parser(clap::value_parser!(std::ffi::OsString)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }

    #[test]
    fn tools_get_their_arguments_as_they_are() {
        let line = ["gencl", "compile", "--help", "-o", "x", "--", "y"];
        let matches = super::command().try_get_matches_from(line).unwrap();
        let (name, matches) = matches.subcommand().unwrap();
        let arguments: Vec<_> = matches.get_many::<std::ffi::OsString>(super::ARGUMENTS).unwrap().collect();
        assert_eq!((name, arguments.len()), ("compile", 5));
    }
}
