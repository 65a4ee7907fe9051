import Foundation
import KeelLint
import Testing

@Suite("The configuration")
struct ConfigurationTests {
    private func problems(_ text: String) throws -> [String] {
        let project = try TemporaryProject(["keel-lint.yml": text, "A.swift": "struct A {}"])
        do {
            _ = try project.lint()
            return []
        } catch let error as ConfigurationError {
            return error.problems
        }
    }

    @Test(
        "A mistake is reported with its place and a suggestion",
        arguments: [
            ("layer: []", "keel-lint.yml:1:1: There is no key `layer`. Did you mean `layers`?"),
            ("version: 2", "keel-lint.yml:1:10: The version of the configuration must be 1"),
            ("layers:\n  - paths: [A]", "keel-lint.yml:2:5: A layer needs a `name`."),
            ("layers:\n  - name: A", "keel-lint.yml:2:5: The layer `A` needs `targets` or `paths`"),
            (
                "layers:\n  - name: Domain\n    paths: [A]\n    uses: [Domian]",
                "keel-lint.yml:4:11: There is no layer `Domian`. Did you mean `Domain`?"
            ),
            (
                "layers:\n  - {name: A, paths: [A]}\n  - {name: A, paths: [B]}",
                "keel-lint.yml:3:5: There are two layers called `A`."
            ),
            (
                "layers:\n  - name: A\n    role: domian\n    paths: [A]",
                "keel-lint.yml:3:11: There is no role `domian`. Did you mean `domain`?"
            ),
            (
                "rules: {ambient-effect: off}",
                """
                keel-lint.yml:1:9: There is no rule `ambient-effect`. Did you mean \
                `ambient-effects`?
                """
            ),
            (
                "rules: {naming: maybe}",
                "keel-lint.yml:1:17: `naming` must be `off`, `on`, `warning` or `error`"
            ),
            (
                "profile: services",
                "keel-lint.yml:1:1: There is no key `profile`. Did you mean `profiles`?"
            ),
            ("profiles: data", "keel-lint.yml:1:11: There is no profile `data`."),
            (
                "profiles: [services, clean-architekture]",
                """
                keel-lint.yml:1:11: There is no profile `clean-architekture`. Did you mean \
                `clean-architecture`?
                """
            ),
            (
                "layers:\n  - {name: A, paths: [A.swift]}\nrules: {naming: {transitive: false}}",
                "keel-lint.yml:3:18: There is no key `transitive`."
            ),
            (
                "contracts:\n  - name: x\n    type: forbiden",
                """
                keel-lint.yml:3:11: There is no contract type `forbiden`. Did you mean \
                `forbidden`?
                """
            ),
            (
                "contracts:\n  - name: x\n    type: forbidden\n    from: [A]",
                "keel-lint.yml:2:5: The contract `x` of type forbidden needs `to`."
            ),
            (
                "contracts:\n  - name: x\n    type: acyclic\n    between: targets\n    from: [A]",
                "keel-lint.yml:5:11: A contract of type acyclic has no `from`"
            ),
            (
                "contracts:\n  - name: naming\n    type: acyclic\n    between: targets",
                "keel-lint.yml:2:5: The name `naming` is already used"
            ),
            (
                "contracts:\n  - name: x\n    type: acyclic\n    between: everything",
                "keel-lint.yml:4:14: `between` must be `layers`, `targets`"
            ),
            ("naming:\n  - types: A", "keel-lint.yml:2:5: A naming rule must have a requirement"),
            (
                "naming:\n  - named: A",
                "keel-lint.yml:2:5: A naming rule must have either `types` or `files`"
            ),
            (
                "naming:\n  - files: A\n    named: B",
                "keel-lint.yml:3:12: `named` is for `types`; a rule about `files` has `file-named`."
            ),
            ("layers: [", "keel-lint.yml: Invalid YAML"),
            ("", "keel-lint.yml:1:1: The file is empty."),
            ("- a", "keel-lint.yml:1:1: Expected the configuration with keys"),
            (
                "baseline: gone.txt",
                "gone.txt: The baseline named by the configuration does not exist."
            ),
        ]
    )
    func mistakes(_ text: String, _ start: String) throws {
        let found = try problems(text)
        #expect(found.contains { $0.hasPrefix(start) }, "\(found)")
    }

    @Test("All mistakes are reported in one run")
    func several() throws {
        #expect(try problems("layer: []\nrule: {}\nversion: 3").count == 3)
    }

    @Test("Transfer objects of a profile are added to those of the configuration")
    func transferObjects() throws {
        let project = try TemporaryProject([
            "keel-lint.yml":
                "transfer-objects: [\"*Payload\"]\nprofiles: [infrastructure-naming]",
            "A.swift": "struct A {}",
        ])
        let names = try project.lint().project.configuration.transferObjects.map(\.pattern)
        #expect(names == ["*Payload", "Net[A-Z]*"])
    }

    @Test(
        "Roles are derived from names",
        arguments: [
            ("Domain", LayerRole.domain), ("NotesDomain", .domain), ("domain-layer", .domain),
            ("RestaurantsData", .data), ("Networking", .infrastructure), ("AppUI", .presentation),
            ("App", .composition), ("Common", .shared), ("Banana", nil),
            ("ComposableStoreKit", nil), ("SharedModels", .domain), ("HomeFeature", .presentation),
        ]
    )
    func roles(_ name: String, _ role: LayerRole?) {
        #expect(LayerRole.named(name) == role)
    }

    @Test(
        "Path patterns match",
        arguments: [
            ("Sources/A", "Sources/A/B.swift", true), ("Sources/A", "Sources/AB/C.swift", false),
            ("Sources/*/Domain", "Sources/App/Domain/X.swift", true),
            ("**/Views/**", "A/Views/B/C.swift", true),
            ("**/X.swift", "X.swift", true), ("*.swift", "A/B.swift", false),
            ("A/**/B.swift", "A/B.swift", true),
            ("A/?.swift", "A/b.swift", true), ("A/[A-C]*.swift", "A/Day.swift", false),
            ("A/{x,y}.swift", "A/y.swift", true), ("./A", "A/b.swift", true),
            ("A/", "A/b.swift", true),
            ("A/[!x]*", "A/xy.swift", false), ("**", "a/b/c.swift", true),
        ]
    )
    func globs(_ pattern: String, _ path: String, _ isMatch: Bool) {
        #expect(Glob(pattern).matches(path: path) == isMatch)
    }

    @Test("The configuration proposed by init passes on a clean project of each layout")
    func proposal() throws {
        for layout in Layout.allCases {
            let clean = try #require(
                Corpus.all.first { $0.name == "clean app" && $0.layout == layout }
            )
            var files = clean.files
            files["keel-lint.yml"] = nil
            let project = try TemporaryProject(files)
            let proposal = ConfigurationProposal(Linter(root: project.root).load(nil))
            #expect(proposal.configuration.layers.map(\.name).contains("Domain"))
            try project.write("keel-lint.yml", proposal.text)
            #expect(try project.lint().findings.isEmpty, "\(layout): \(proposal.text)")
        }
    }

    @Test("Targets are read from the manifest, even with custom folders")
    func targets() throws {
        let project = try TemporaryProject([
            "Package.swift": """
            let package = Package(name: "X", targets: [
                .target(name: "Odd", path: "Elsewhere/Odd/"), .executableTarget(name: "Tool"),
                .testTarget(name: "Checks", path: "Elsewhere/Checks"),
            ])
            """,
            "Elsewhere/Odd/A.swift": "", "Sources/Tool/B.swift": "", "Elsewhere/Checks/C.swift": "",
            "Sources/Made/D.swift": "", "Tests/MadeTests/E.swift": "",
        ])
        let files = Linter(root: project.root).load(nil).files
        #expect(files.map { $0.target ?? "-" } == ["Checks", "Odd", "Made", "Tool", "MadeTests"])
        #expect(files.map(\.isTest) == [true, false, false, false, true])
    }

    @Test("The only target of a package may have its files directly in Sources")
    func onlyTarget() throws {
        let project = try TemporaryProject([
            "Package.swift": """
            let package = Package(name: "X", targets: [
                .executableTarget(name: "Tool"),
                .testTarget(name: "ToolTests", dependencies: [.target(name: "Tool")]),
            ])
            """,
            "Sources/Domain/Note.swift": "struct Note { let page: Page }",
            "Sources/Data/Page.swift": "struct Page {}", "Sources/main.swift": "",
            "Tests/ToolTests/C.swift": "",
            "keel-lint.yml": """
            layers:
              - {name: Domain, paths: [Sources/Domain], uses: []}
              - {name: Data, paths: [Sources/Data], uses: []}
            """,
        ])
        let files = Linter(root: project.root).load(nil).files
        #expect(files.map { $0.target ?? "-" } == ["Tool", "Tool", "Tool", "ToolTests"])
        #expect(try project.lint().findings.map(\.file) == ["Sources/Domain/Note.swift"])
    }

    @Test("Targets that functions make are found in folders of groups by their quoted names")
    func groupedTargets() throws {
        let project = try TemporaryProject([
            "Package.swift": """
            let package = Package(name: "X")
            areas["Area"] = [module("One", ["Two"]), module("Two", []), tests(of: "One")]
            """,
            "Sources/Area/One/A.swift": "", "Sources/Area/Two/Inside/B.swift": "",
            "Sources/Made/C.swift": "", "Sources/Made/One/D.swift": "",
            "Sources/Other/Part/E.swift": "", "Tests/Area/OneTests/F.swift": "",
        ])
        let files = Linter(root: project.root).load(nil).files
        let targets = Dictionary(uniqueKeysWithValues: files.map { ($0.path, $0.target) })
        #expect(targets["Sources/Area/One/A.swift"] == "One")
        #expect(targets["Sources/Area/Two/Inside/B.swift"] == "Two")
        #expect(targets["Sources/Made/C.swift"] == "Made")
        #expect(targets["Sources/Made/One/D.swift"] == "Made")
        #expect(targets["Sources/Other/Part/E.swift"] == "Other")
        #expect(targets["Tests/Area/OneTests/F.swift"] == "OneTests")
    }
}
