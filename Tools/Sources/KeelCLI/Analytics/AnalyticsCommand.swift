import ArgumentParser
import Foundation

/// The commands for an app's tracked events.
struct AnalyticsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "analytics",
        abstract: "Shows, exports and delivers the events that an app has tracked.",
        discussion: """
            FOLDER is the folder of the app's AnalyticsService. Inspecting and exporting \
            change nothing; the app may be running.

            Exit codes: 0 done; 1 failed; 2 done, with something to look at (events that were \
            skipped or are still pending); 64 the command line is invalid.

                keel analytics top FOLDER --since 7d
            """,
        subcommands: [
            AnalyticsStatusCommand.self, AnalyticsTopCommand.self, AnalyticsFlushCommand.self,
            AnalyticsExportCommand.self,
        ]
    )
}

/// The options of all analytics commands.
struct AnalyticsOptions: ParsableArguments {
    @Argument(help: "The folder of the app's AnalyticsService.", completion: .directory)
    var folder: String

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    var url: URL { URL(fileURLWithPath: folder, isDirectory: true) }
    var output: CommandOutput { CommandOutput(isJSON: json) }
}
