//! `gencl-manual FOLDER`: writes the manual pages and the completions for bash, zsh and fish of all tools to a folder.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use clap_complete::{Shell, generate_to};

/// The shells, with the folders of their completions.
const SHELLS: [(Shell, &str); 3] = [(Shell::Bash, "bash"), (Shell::Fish, "fish"), (Shell::Zsh, "zsh")];

fn write(folder: &Path) -> io::Result<()> {
    let pages = folder.join("man");
    fs::create_dir_all(&pages)?;
    // Tools have pages of their own instead of those of `gencl`'s subcommands, so they come later.
    for command in [gencl_cli::command()].into_iter().chain(gencl_commands::all()) {
        let name = command.get_name().to_owned();
        for (shell, subfolder) in SHELLS {
            let completions = folder.join(subfolder);
            fs::create_dir_all(&completions)?;
            let written = generate_to(shell, &mut command.clone(), &name, &completions)?;
            // bash-completion looks for the command's name alone.
            if shell == Shell::Bash {
                fs::rename(written, completions.join(&name))?;
            }
        }
        clap_mangen::generate_to(command, &pages)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: gencl-manual FOLDER");
        return ExitCode::FAILURE;
    };
    match write(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gencl-manual: {}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}
