import Foundation
import KeelLint
import Testing

@Suite("Projects laid out like well-known apps")
struct LayoutTests {
    /// The linter's reports for a layout, whose files are read once.
    private struct Run {
        let layout: ProjectLayout
        /// Without a configuration.
        let standard: LintReport
        /// With the configuration that `init` writes.
        let written: LintReport
        /// With that and every profile about code.
        let profiles: LintReport

        init(_ layout: ProjectLayout) throws {
            self.layout = layout
            let project = try TemporaryProject(layout.files)
            let linter = Linter(root: project.root)
            let loaded = linter.load(nil)
            let proposal = ConfigurationProposal(loaded)
            standard = try linter.check(loaded, proposal.configuration)
            func report(_ text: String) throws -> LintReport {
                try project.write("keel-lint.yml", text)
                return try linter.check(loaded, try #require(try linter.readConfiguration()))
            }
            written = try report(proposal.text)
            let text = proposal.text.replacingOccurrences(of: "# profiles:", with: "profiles:")
            #expect(text.contains("\nprofiles: ["))
            profiles = try report(text)
        }
    }

    private static let runs = Result { try ProjectLayout.all.map { try Run($0) } }

    private static func places(_ report: LintReport) -> [String] {
        report.findings.map { "\($0.file):\($0.line) \($0.rule)" }
    }

    @Test("The guessed layers match the layout and cause no findings")
    func guessed() throws {
        let runs = try Self.runs.get()
        #expect(runs.count == 10)
        for run in runs {
            let (name, report) = (run.layout.name, run.standard)
            #expect(report.project.configuration.layers.map(\.name) == run.layout.layers, "\(name)")
            #expect(Self.places(report).isEmpty, "\(name): \(TextReport.text(report))")
            let saysNothing = report.notes.contains { $0.text.hasPrefix("No layer was checked") }
            #expect(saysNothing == run.layout.layers.isEmpty, "\(name)")
        }
    }

    @Test("The configuration written by init passes a strict run")
    func written() throws {
        for run in try Self.runs.get() {
            #expect(
                !run.written.fails(strict: true),
                "\(run.layout.name): \(TextReport.text(run.written))"
            )
        }
    }

    @Test(
        "A planted violation of the guessed layers is found",
        arguments: ProjectLayout.all.filter { $0.plant != nil }
    )
    func planted(_ layout: ProjectLayout) throws {
        let plant = try #require(layout.plant)
        var files = layout.files
        files[plant.path] = plant.line
        let report = try TemporaryProject(files).lint()
        #expect(Self.places(report) == ["\(plant.path):1 layers"])
    }

    @Test("Every layout with layers has a planted violation")
    func plants() {
        for layout in ProjectLayout.all {
            #expect((layout.plant == nil) == layout.layers.isEmpty, "\(layout.name)")
        }
    }

    @Test("With all profiles, only marked findings are reported, with some for each rule")
    func profiles() throws {
        for run in try Self.runs.get() {
            let found = Set(Self.places(run.profiles))
            #expect(found.subtracting(run.layout.right).sorted() == [], "\(run.layout.name)")
            // There is a mark for each rule; a port with a double in the tests is not found.
            func rules(_ places: Set<String>) -> Set<Substring> {
                Set(places.compactMap { $0.split(separator: " ").last })
            }
            #expect(rules(found) == rules(run.layout.right), "\(run.layout.name)")
        }
    }

    @Test("The false error rate is below 1 in 1,000 lines, by default and with all profiles")
    func rate() throws {
        var lines = 0
        var wrong = (standard: 0, profiles: 0)
        for run in try Self.runs.get() {
            lines += run.layout.lineCount
            wrong.standard += run.standard.findings.count
            wrong.profiles += Self.places(run.profiles).count { !run.layout.right.contains($0) }
        }
        print(
            "\(lines) lines; false: \(wrong.standard) by default, \(wrong.profiles) with profiles"
        )
        #expect(lines > 15_000)
        #expect(wrong.standard * 1_000 < lines)
        #expect(wrong.profiles * 1_000 < lines)
    }
}

@Suite("Layers guessed from names")
struct LayerGuessTests {
    private func layers(_ files: [String: String]) throws -> [String: [String]] {
        let project = try TemporaryProject(files)
        let configuration = ConfigurationProposal(Linter(root: project.root).load(nil))
            .configuration
        return Dictionary(
            uniqueKeysWithValues: configuration.layers.map { layer in
                (layer.name, (layer.targets + layer.paths).map(\.pattern))
            }
        )
    }

    private func files(_ paths: String..., package: Bool = false) -> [String: String] {
        var files: [String: String] = package ? ["Package.swift": "let package = 1"] : [:]
        for (number, path) in paths.enumerated() { files[path] = "struct S\(number) {}" }
        return files
    }

    @Test(
        "A layered app in one folder or target has the layers inside, not one layer for everything",
        arguments: ["App", "Sources/App", "Application", "Shared", "MyApp/Common"]
    )
    func within(_ folder: String) throws {
        let found = try layers(
            files(
                "\(folder)/Domain/A.swift",
                "\(folder)/Data/Local/B.swift",
                "\(folder)/Presentation/Views/C.swift",
                "\(folder)/Main.swift",
                package: folder == "Sources/App"
            )
        )
        #expect(
            found == [
                "Domain": ["\(folder)/Domain"], "Data": ["\(folder)/Data"],
                "Presentation": ["\(folder)/Presentation"],
            ]
        )
    }

    @Test("With features first, each layer is a pattern across all features")
    func features() throws {
        let found = try layers(
            files(
                "Features/Login/Domain/A.swift",
                "Features/Login/Data/B.swift",
                "Features/Login/UI/C.swift",
                "Features/Feed/Domain/D.swift",
                "Features/Feed/Data/E.swift",
                "Features/Feed/UI/F.swift",
                "Features/Feed/FeedModule.swift",
                "App/Main.swift"
            )
        )
        #expect(
            found == [
                "Domain": ["Features/*/Domain"], "Data": ["Features/*/Data"],
                "Presentation": ["Features/*/UI"], "App": ["App"],
            ]
        )
    }

    @Test("A folder inside another layer's folder takes precedence")
    func nested() throws {
        let project = try TemporaryProject([
            "App/Domain/A.swift": "struct A {}",
            "App/Presentation/Views/B.swift": "struct B { let store: Store }",
            "App/Presentation/Data/C.swift": "struct Store {}",
            "App/Presentation/D.swift": "struct D {}",
        ])
        #expect(try project.lint().findings.map(\.file) == ["App/Presentation/Views/B.swift"])
        let proposal = ConfigurationProposal(Linter(root: project.root).load(nil))
        try project.write("keel-lint.yml", proposal.text)
        #expect(try project.lint().findings.map(\.file) == ["App/Presentation/Views/B.swift"])
    }

    @Test("A target with several layers is matched by its folders, others by name")
    func mixed() throws {
        let found = try layers(
            files(
                "Sources/NotesDomain/A.swift",
                "Sources/NotesApp/Data/B.swift",
                "Sources/NotesApp/UI/C.swift",
                package: true
            )
        )
        #expect(
            found == [
                "Domain": ["NotesDomain"], "Data": ["Sources/NotesApp/Data"],
                "Presentation": ["Sources/NotesApp/UI"],
            ]
        )
    }

    @Test("Without a named domain, shared code is in no layer, and models are only models")
    func loose() throws {
        let project = try TemporaryProject([
            "Package.swift": "let package = 1",
            "Sources/Core/A.swift": "import Models\nimport Networking",
            "Sources/Utilities/B.swift": "",
            "Sources/Models/C.swift": "import Utilities",
            "Sources/Networking/D.swift": "import Models",
            "Sources/HomeFeature/E.swift": "import Core\nimport Networking",
        ])
        let proposal = ConfigurationProposal(Linter(root: project.root).load(nil))
        #expect(
            proposal.configuration.layers.map(\.name) == [
                "Domain", "Infrastructure", "Presentation",
            ]
        )
        #expect(try project.lint().findings.isEmpty)
        try project.write("Sources/Models/C.swift", "import Networking")
        #expect(try project.lint().findings.map(\.rule) == ["layers"])
    }

    @Test("A single layer is not proposed, since there is nothing to check it against")
    func alone() throws {
        #expect(try layers(files("App/Views/A.swift", "App/Model/B.swift")).isEmpty)
    }
}
