import ArgumentParser
import Foundation
import KeelLint

/// Checks a project and writes reports.
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

    @Flag(help: "Omits the notes.")
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
        let data = try format.data(report, title: title, isQuiet: quiet)
        if let output {
            try data.write(to: URL(fileURLWithPath: output), options: .atomic)
            print(TextReport.summary(report))
        } else {
            FileHandle.standardOutput.write(data)
        }
        for extra in also {
            try extra.format.data(report, title: title, isQuiet: quiet)
                .write(to: URL(fileURLWithPath: extra.file), options: .atomic)
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
        try Data(baseline.text.utf8).write(to: file, options: .atomic)
        print("\(name): \(baseline.keys.count) findings, \(report.staleKeys.count) removed")
    }

    /// Rules about the linter's own upkeep are never in the baseline.
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
        FileHandle.standardError.write(Data("error: \(text)\n".utf8))
    }
}

/// An additional report in a file.
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
