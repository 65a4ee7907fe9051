import ArgumentParser
import Foundation
import KeelLint

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks a project. This is the default command."
    )

    @Argument(help: "The project's folder.")
    var path = "."

    @OptionGroup var project: ProjectOptions

    @Option(
        help: "How to report: \(ReportFormat.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var format = ReportFormat.text

    @Option(
        name: [.short, .long],
        help: "Writes the report to a file and prints only the summary."
    )
    var output: String?

    @Option(help: "An additional report, as FORMAT=FILE; can be repeated.")
    var also: [ExtraReport] = []

    @Flag(
        help:
            """
            Warnings fail the run, and so do stale allows, a stale baseline and a missing \
            configuration.
            """
    )
    var strict = false

    @Flag(help: "Omits the notes from reports as text.")
    var quiet = false

    @Flag(
        help: "Writes the findings into the baseline, for a project that fixes them step by step."
    )
    var writeBaseline = false

    @Flag(help: "Removes fixed findings from the baseline.")
    var pruneBaseline = false

    @Option(help: "Explains a rule and exits.")
    var explain: String?

    @Flag(help: "Lists every rule and the profile that enables it, and exits.")
    var rules = false

    func run() throws {
        if let explain { return try Self.explain(explain) }
        if rules { return Self.listRules() }
        var linter = try project.linter(for: path)
        linter.usesBaseline = !writeBaseline
        let report: LintReport
        let isConfigured: Bool
        do {
            isConfigured = try linter.readConfiguration() != nil
            report = try linter.run()
        } catch {
            Self.complain(error.description)
            throw ExitCode(2)
        }
        if writeBaseline || pruneBaseline {
            return try keepBaseline(report, linter)
        }
        try write(report, linter)
        if strict, !isConfigured {
            Self.complain(
                "There is no \(Linter.configurationName), which --strict requires. Run: keel-lint init"
            )
            throw ExitCode(2)
        }
        if report.fails(strict: strict) { throw ExitCode(1) }
    }

    // MARK: Reports

    private func write(_ report: LintReport, _ linter: Linter) throws {
        let title = URL(fileURLWithPath: linter.root).lastPathComponent
        try refuseOverwriting(report, linter)
        let data = try format.data(report, title: title, isQuiet: quiet)
        if let output {
            try Self.write(data, to: URL(fileURLWithPath: output))
            print(TextReport.summary(report))
        } else {
            do {
                try FileHandle.standardOutput.write(contentsOf: data)
            } catch {
                Self.complain("Standard output cannot be written: \(error.localizedDescription)")
                throw ExitCode(2)
            }
        }
        for extra in also {
            let data = try extra.format.data(report, title: title, isQuiet: quiet)
            try Self.write(data, to: URL(fileURLWithPath: extra.file))
        }
    }

    /// Refuses to write a report over what the run reads, or over another report.
    private func refuseOverwriting(_ report: LintReport, _ linter: Linter) throws {
        func place(_ file: URL) -> String {
            file.standardizedFileURL.resolvingSymlinksInPath().path
        }
        let root = URL(fileURLWithPath: linter.root, isDirectory: true)
        let configuration =
            linter.configurationFile.map { URL(fileURLWithPath: $0) }
            ?? root.appending(path: Linter.configurationName)
        let baseline = report.project.configuration.baseline.map { root.appending(path: $0) }
        var taken = Set(([configuration] + [baseline].compactMap { $0 }).map(place))
        for file in [output].compactMap({ $0 }) + also.map(\.file) {
            let path = place(URL(fileURLWithPath: file))
            guard !path.hasSuffix(".swift"), taken.insert(path).inserted else {
                Self.complain("\(file) would be overwritten. Name another file for the report.")
                throw ExitCode(2)
            }
        }
    }

    /// Writes a file, which appears when it is complete.
    ///
    /// - Throws: The exit code 2, after a message, because 1 stands for findings.
    static func write(_ data: Data, to file: URL) throws {
        var status = stat()
        let isThere = stat(file.path, &status) == 0
        let kind = status.st_mode & S_IFMT
        // Links of the system, which can lead to a file.
        let isStream = file.path.hasPrefix("/dev/std") || file.path.hasPrefix("/dev/fd/")
        guard !isStream, !isThere || kind == S_IFREG || kind == S_IFDIR else {
            complain("\(file.path) is a pipe or a device. Redirect standard output to it instead.")
            throw ExitCode(2)
        }
        do {
            try data.write(to: file, options: .atomic)
        } catch {
            complain("\(file.path) cannot be written: \(error.localizedDescription)")
            throw ExitCode(2)
        }
    }

    // MARK: Baseline

    private func keepBaseline(_ report: LintReport, _ linter: Linter) throws {
        guard let name = report.project.configuration.baseline else {
            Self.complain(
                "Add the baseline to the configuration first: `baseline: keel-lint-baseline.txt`"
            )
            throw ExitCode(2)
        }
        let file = URL(fileURLWithPath: linter.root).appending(path: name)
        let counted = report.findings.filter { !Self.never.contains($0.rule) }
        let baseline = writeBaseline ? Baseline(counted) : Baseline(report.baselined)
        // A missing or invalid one is replaced as well.
        let former = FileManager.default.contents(atPath: file.path).flatMap {
            try? Baseline(reading: String(decoding: $0, as: UTF8.self), file: name)
        }
        let removed = former?.keys.subtracting(baseline.keys).count ?? 0
        try Self.write(Data(baseline.text.utf8), to: file)
        print("\(name): \(baseline.keys.count) findings, \(removed) removed")
    }

    private static let never: Set<String> = [
        "allow-reason", "stale-allow", "stale-baseline", "matches-nothing",
    ]

    // MARK: Rules

    private static func explain(_ id: String) throws {
        guard let rule = BuiltInRules.named(id) else {
            complain(
                """
                There is no rule `\(id)`. The rules: \
                \(BuiltInRules.all.map(\.id).joined(separator: ", "))
                """
            )
            throw ExitCode(2)
        }
        print(rule.explanation, terminator: "")
    }

    private static func listRules() {
        let width = (BuiltInRules.all.map(\.id.count).max() ?? 0) + 2
        func list(_ title: String, _ rules: [RuleDescription]) {
            print(title)
            for rule in rules {
                let padding = String(repeating: " ", count: width - rule.id.count)
                print("  \(rule.id)\(padding)\(rule.summary)")
            }
        }
        list("always", BuiltInRules.all.filter(\.isOnByDefault))
        for profile in LintProfile.allCases {
            list(
                "profile \(profile.rawValue): \(profile.summary)",
                BuiltInRules.all.filter { $0.profile == profile }
            )
        }
        list(
            "if `rules` names them",
            BuiltInRules.all.filter { !$0.isOnByDefault && $0.profile == nil }
        )
    }

    static func complain(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("error: \(text)\n".utf8))
    }
}

struct ExtraReport: ExpressibleByArgument {
    let format: ReportFormat
    let file: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let format = ReportFormat(rawValue: parts[0]) else { return nil }
        self.format = format
        file = parts[1]
    }
}
