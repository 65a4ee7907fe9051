import ArgumentParser

/// What a terminal can do with logs on disk.
struct LogsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Shows and searches the logs that apps have written.",
        discussion: """
            A log is the file that KeelLogging's rotating file writes, whose rotated and compressed \
            files are read too, or the folder of the journal that logs are shipped from. Reading \
            takes nothing away, and the app may be running.

            Exit codes: 0 done; 1 failed; 2 done, but some lines are no records; 64 the command \
            line is wrong.
            """,
        subcommands: [LogsTailCommand.self, LogsQueryCommand.self]
    )
}
