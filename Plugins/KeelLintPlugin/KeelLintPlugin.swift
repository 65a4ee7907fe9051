import Foundation
import PackagePlugin

/// `swift package lint`: starts an installed `keel-lint` on the package.
///
/// It builds nothing: the linter is a program that is installed once, so that no app compiles
/// swift-syntax for it.
@main
struct KeelLintPlugin: CommandPlugin {
    /// Why the linter did not run, or that it found something.
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let program = Self.program(environment) else {
            throw Failure(
                description: """
                    There is no keel-lint on the PATH. Build it in Keel's repository with \
                    `swift build --package-path Lint -c release --product keel-lint`, and put it \
                    there; or name it in the variable KEEL_LINT.
                    """
            )
        }
        let process = Process()
        process.executableURL = program
        process.currentDirectoryURL = context.package.directoryURL
        // The sandbox of plugins lets no program write into the user's folder of caches.
        let cache = context.pluginWorkDirectoryURL.appending(path: "facts")
        process.arguments = arguments + (Self.readsFiles(arguments) ? ["--cache", cache.path] : [])
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "keel-lint ended with \(process.terminationStatus).")
        }
    }

    /// Whether the arguments leave it to the plugin where facts are kept.
    private static func readsFiles(_ arguments: [String]) -> Bool {
        let others = ["--cache", "--no-cache", "--help", "-h", "--version", "help"]
        return !arguments.contains { others.contains($0) || $0.hasPrefix("--cache=") }
    }

    private static func program(_ environment: [String: String]) -> URL? {
        let named = environment["KEEL_LINT"].map { [$0] } ?? []
        let folders = environment["PATH"]?.split(separator: ":") ?? []
        return (named + folders.map { "\($0)/keel-lint" })
            .first { FileManager.default.isExecutableFile(atPath: $0) }
            .map { URL(fileURLWithPath: $0) }
    }
}
