import ArgumentParser

/// Keel on the command line.
@main
struct KeelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keel",
        abstract: "Tools of Keel, the infrastructure layer of Swift apps.",
        subcommands: [ProxyCommand.self]
    )
}
