import ArgumentParser

struct LogsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Shows and searches the logs that apps have written.",
        discussion: """
            A log is a file written by KeelLogging's rotating file, including its rotated and \
            compressed files, or the folder of a journal that logs are shipped from. Reading \
            removes nothing, and the app may be running.

            Exit codes: 0 done; 1 failed; 2 done, but some lines are not records, except with \
            --follow; 64 the command line is invalid.

                keel logs tail app.log --level warning
                keel logs query app.log --since 2h --count-by level
            """,
        subcommands: [LogsTailCommand.self, LogsQueryCommand.self]
    )
}
