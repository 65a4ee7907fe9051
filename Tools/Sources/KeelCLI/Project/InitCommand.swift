import ArgumentParser
import Foundation
import KeelProjectTools
import KeelToolSupport

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Creates a new app: its layers, one feature from the screen to the store, tests.",
        discussion: """
            The app is created completely or not at all, in a new folder. It builds and \
            passes its tests without changes: swift test.

                keel init ShoppingList --keel ../keel
            """
    )

    @Argument(help: "The app's name, such as ShoppingList.")
    var name: String

    @Option(
        name: .customLong("in"),
        help: "The folder in which to create the app's folder.",
        completion: .directory
    )
    var folder = "."

    @Option(
        help: "The location of Keel: the folder of a checkout, or the URL of a repository.",
        completion: .directory
    )
    var keel: String

    @Option(help: "The user interface: terminal, or swiftui for screens on iOS and macOS.")
    var ui = NewApp.Interface.terminal

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func run() async throws {
        let output = CommandOutput(isJSON: json)
        try await output.reporting {
            let name = try AppName(name)
            let target = URL(filePath: folder).standardizedFileURL
                .appending(path: name.module)
            let app = NewApp(name, ui, keel: try place())
            try app.write(to: target)
            guard !json else {
                try output.record(Made(folder: target.path, files: app.files.keys.sorted()))
                return .done
            }
            try output.line("\(target.path): \(app.files.count) files")
            try output.line(
                "Next: cd \(target.path.shellWord) && swift test && swift run \(name.program)"
            )
            return .done
        }
    }

    /// Returns the repository, or the absolute path of the checkout.
    ///
    /// - Throws: `ToolError` for a folder without a package.
    private func place() throws -> String {
        guard !NewApp.isRepository(keel) else { return keel }
        let checkout = URL(filePath: keel).standardizedFileURL
        let manifest = checkout.appending(path: "Package.swift")
        guard FileManager.default.fileExists(atPath: manifest.path) else {
            throw ToolError(
                "there is no package in “\(checkout.path)”",
                advice: "Give the folder of a checkout of Keel with --keel, or its URL."
            )
        }
        return checkout.path
    }

    private struct Made: Encodable {
        let folder: String
        let files: [String]
    }
}

extension NewApp.Interface: ExpressibleByArgument {}
