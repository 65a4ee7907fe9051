public import Foundation

/// Checks a project.
///
/// In a test:
///
/// ```swift
/// @Test func layersHold() throws {
///     #expect(try Linter(root: packageRoot).run().findings.isEmpty)
/// }
/// ```
public struct Linter: Sendable {
    /// The project's folder.
    public var root: String
    /// The configuration; nil for `keel-lint.yml` in the root, which need not exist.
    public var configurationFile: String?
    /// The file of the cache; nil for none.
    public var cacheFile: URL?
    /// The number of files read in parallel.
    public var threads = ProcessInfo.processInfo.activeProcessorCount
    /// Whether findings in the baseline are omitted.
    public var usesBaseline = true

    /// Creates a linter.
    public init(root: String, configurationFile: String? = nil) {
        self.root = root
        self.configurationFile = configurationFile
    }

    /// Checks the project; without a configuration, by layers guessed from the names of targets and folders.
    ///
    /// - Throws: A ``ConfigurationError`` if the configuration or the baseline is invalid or, though named, missing, or
    ///   if there are no Swift files to check.
    public func run() throws(ConfigurationError) -> LintReport {
        let configuration = try readConfiguration()
        let loaded = load(configuration)
        return try check(loaded, configuration ?? ConfigurationProposal(loaded).configuration)
    }

    package static let configurationName = "keel-lint.yml"

    package func readConfiguration() throws(ConfigurationError) -> LintConfiguration? {
        let path = configurationFile ?? "\(root)/\(Self.configurationName)"
        let name = configurationFile ?? Self.configurationName
        guard let data = FileManager.default.contents(atPath: path) else {
            guard configurationFile == nil else {
                throw ConfigurationError(["\(name): The file does not exist or cannot be read."])
            }
            return nil
        }
        return try ConfigurationReader.read(String(decoding: data, as: UTF8.self), file: name)
    }

    package func load(_ configuration: LintConfiguration?) -> ProjectLoader.Loaded {
        let exclude = configuration?.exclude ?? []
        return ProjectLoader(
            root: root,
            cache: cacheFile.map { FactCache(at: $0) } ?? .none,
            threads: threads,
            byteLimit: configuration?.byteLimit ?? 8 << 20,
            packages: configuration?.packages,
            isLeftOut: { path in exclude.contains { $0.matches(path: path) } }
        ).load()
    }

    package func check(
        _ loaded: ProjectLoader.Loaded,
        _ configuration: LintConfiguration
    ) throws(ConfigurationError) -> LintReport {
        guard !loaded.files.isEmpty else {
            throw ConfigurationError(["\(root): There are no Swift files here."])
        }
        let project = Project(loaded.files, configuration, threads: threads)
        let raw =
            ContractChecker(project: project).findings() + RuleRunner(project: project).findings()
            + EmptyMatches(project: project, packages: loaded.localPackages).findings()
        let (kept, allowed) = Allowances(project: project).applied(to: raw)
        let rated = kept.map { weighed($0, configuration) }
        let baseline = try readBaseline(configuration)
        let keys = Set(rated.map(\.key))
        let baselined = rated.filter { baseline?.lines[$0.key] != nil }
        let stale = (baseline?.lines ?? [:]).filter { !keys.contains($0.key) }
        let staleFindings = stale.map { key, line in
            weighed(
                Finding(
                    rule: "stale-baseline",
                    file: configuration.baseline ?? "",
                    line: line,
                    column: 1,
                    symbol: "\(key.rule) \(key.file) \(key.symbol)",
                    message:
                        "`\(key.rule)` is no longer found in \(key.file) for `\(key.symbol)`.",
                    help: "Run `keel-lint --prune-baseline`."
                ),
                configuration
            )
        }
        let reportsStale = configuration.setting("stale-baseline").isOn ?? true
        let new =
            rated.filter { baseline?.lines[$0.key] == nil } + (reportsStale ? staleFindings : [])
        return LintReport(
            findings: Array(Set(new)).sorted(),
            baselined: Array(Set(baselined)).sorted(),
            staleKeys: stale.keys.sorted(),
            notes: notes(loaded, project),
            fileCount: loaded.files.count,
            byteCount: loaded.byteCount,
            cachedFileCount: loaded.fromCache,
            allowedCount: allowed,
            root: root,
            project: project
        )
    }

    private func weighed(_ finding: Finding, _ configuration: LintConfiguration) -> Finding {
        var finding = finding
        let standard = BuiltInRules.named(finding.rule)?.severity ?? .error
        finding.severity = configuration.setting(finding.rule).severity ?? standard
        return finding
    }

    private func readBaseline(_ configuration: LintConfiguration) throws(ConfigurationError)
        -> Baseline?
    {
        guard usesBaseline, let name = configuration.baseline else { return nil }
        guard let data = FileManager.default.contents(atPath: "\(root)/\(name)") else {
            throw ConfigurationError([
                """
                \(name): The baseline named by the configuration does not exist. Write \
                it with `keel-lint --write-baseline`, or remove `baseline` from \
                \(configuration.file).
                """
            ])
        }
        return try Baseline(reading: String(decoding: data, as: UTF8.self), file: name)
    }

    // MARK: Notes

    private func notes(_ loaded: ProjectLoader.Loaded, _ project: Project) -> [Note] {
        var notes: [Note] = []
        if project.configuration.isProposed {
            notes.append(
                Note(
                    project.configuration.layers.isEmpty
                        ? """
                        No layer was checked: there is no \(Self.configurationName), and the names \
                        of folders and targets do not indicate several layers. `keel-lint init` \
                        writes a configuration to fill in.
                        """
                        : """
                        There is no \(Self.configurationName); the layers were guessed from \
                        names: \
                        \(project.configuration.layers.map(\.name).joined(separator: ", ")). \
                        `keel-lint init` writes them to a file.
                        """
                )
            )
        }
        notes += loaded.nestedPackages.map {
            Note(
                """
                A separate package, skipped; run keel-lint there, or list it under `packages`.
                """,
                file: $0
            )
        }
        notes += loaded.unreadableFolders.map { Note("The folder cannot be read.", file: $0) }
        for file in loaded.files {
            for note in file.facts.notes {
                let place = "line \(note.place.line), column \(note.place.column)"
                let text: String? =
                    switch note.remark {
                    case .syntaxError:
                        "The parser failed at \(place); only what it understood was checked."
                    case .notUTF8: "This is not UTF-8; invalid bytes were replaced."
                    case .converted: "This is UTF-16 and was converted."
                    case .binary: "This is not text and was skipped."
                    case .tooLarge: "This is larger than `max-file-megabytes` and was skipped."
                    case .unreadable: "This cannot be read and was skipped."
                    case .generated: nil
                    }
                if let text { notes.append(Note(text, file: file.path)) }
            }
        }
        let generated = loaded.files.count { $0.facts.has(.generated) }
        if generated > 0, !project.configuration.checksGenerated {
            notes.append(
                Note(
                    """
                    \(generated) generated \(generated == 1 ? "file was" : "files were") \
                    checked for layers and contracts only; `check-generated: true` checks \
                    everything.
                    """
                )
            )
        }
        for (name, files) in project.ambiguous.sorted(by: { $0.key < $1.key }) {
            let places = Set(files.map { project.files[$0].path }).sorted().joined(separator: ", ")
            notes.append(
                Note(
                    """
                    `\(name)` is declared in \(places); its uses are ambiguous and \
                    were not checked.
                    """
                )
            )
        }
        return notes
    }
}

/// The result of a run.
public struct LintReport: Sendable {
    /// Findings that are not in the baseline, sorted by file and position.
    public let findings: [Finding]
    /// Findings that are in the baseline.
    public let baselined: [Finding]
    /// Keys in the baseline without a finding.
    public let staleKeys: [Baseline.Key]
    /// Further information.
    public let notes: [Note]
    /// The number of files, including those that could not be read.
    public let fileCount: Int
    /// The total size of the readable files, in bytes.
    public let byteCount: Int
    /// The number of files that were in the cache.
    public let cachedFileCount: Int
    /// The number of findings that comments allow.
    public let allowedCount: Int
    package let root: String
    package let project: Project

    /// Returns whether there is an error or, in strict mode, any finding.
    public func fails(strict isStrict: Bool) -> Bool {
        findings.contains { isStrict || $0.severity == .error }
    }
}
