import ArgumentParser
import Foundation
import KeelLint

@main
struct KeelLintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keel-lint",
        abstract: "Checks the layers of a Swift project.",
        discussion: """
            Exits with 1 if there are errors or, with --strict, warnings; with 2 if the \
            configuration is invalid or, with --strict, missing, if the command line is invalid, or \
            if a report cannot be written; otherwise with 0. The guide is Documentation/Lint.md of \
            Keel.
            """,
        version: LintVersion.current,
        subcommands: [CheckCommand.self, InitCommand.self],
        defaultSubcommand: CheckCommand.self
    )

    static let _errorPrefix = "keel-lint: "

    /// Exits with 2 for an invalid command line, so that CI can distinguish it from findings.
    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            let code = exitCode(for: error)
            if code == .validationFailure {
                FileHandle.standardError.write(Data((fullMessage(for: error) + "\n").utf8))
                Foundation.exit(2)
            }
            exit(withError: error)
        }
    }
}

struct ProjectOptions: ParsableArguments {
    @Option(
        name: [.short, .long],
        help: "The configuration; by default, keel-lint.yml in the folder."
    )
    var config: String?

    @Option(help: "The file for the facts of earlier runs; by default in the user's caches folder.")
    var cache: String?

    @Flag(help: "Reads every file again, and caches nothing.")
    var noCache = false

    func linter(for path: String) throws -> Linter {
        let root = URL(fileURLWithPath: path, isDirectory: true).standardizedFileURL.path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: root, isDirectory: &isFolder),
            isFolder.boolValue
        else { throw ValidationError("The folder \(path) does not exist.") }
        if !noCache, let cache, !FactCache.mayReplace(URL(fileURLWithPath: cache)) {
            throw ValidationError("\(cache) is not a cache: name another file for --cache.")
        }
        var linter = Linter(root: root, configurationFile: config)
        if !noCache {
            linter.cacheFile =
                cache.map { URL(fileURLWithPath: $0) } ?? FactCache.defaultFile(forProjectAt: root)
        }
        return linter
    }
}

enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
    case sarif
    case github
    case mermaid
    case dot
    case html

    func data(_ report: LintReport, title: String, isQuiet: Bool) throws -> Data {
        switch self {
        case .text: Data(TextReport.text(report, isQuiet: isQuiet).utf8)
        case .json: try JSONReport.data(report)
        case .sarif: try SARIFReport.data(report)
        case .github: Data(GitHubReport.text(report).utf8)
        case .mermaid: Data(GraphText.mermaid(LayerDrawing(report)).utf8)
        case .dot: Data(GraphText.dot(LayerDrawing(report)).utf8)
        case .html: Data(HTMLReport.page(report, title: title).utf8)
        }
    }
}
