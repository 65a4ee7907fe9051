import Foundation
import KeelLint
import Testing

@Suite("Packages inside a project")
struct PackageTests {
    private static let models = [
        "Packages/Models/Package.swift": "let package = Package(name: \"Models\")",
        "Packages/Models/Sources/Models/A.swift": "import Network2\npublic struct A {}",
        "Packages/Network2/Package.swift":
            "let package = Package(dependencies: [.package(path: \"../Models\")])",
        "Packages/Network2/Sources/Network2/B.swift": "import Models\npublic struct B {}",
        "Packages/Network2/Tests/Network2Tests/C.swift": "import Models",
    ]

    private static let layers = """
        layers:
          - {name: Models, role: none, targets: [Models], uses: []}
          - {name: Network, role: none, paths: [Packages/Network2], uses: [Models]}
        """

    private func read(_ files: [String: String]) throws -> (files: [String], left: [String]) {
        let project = try TemporaryProject(files)
        let linter = Linter(root: project.root)
        let loaded = linter.load(try linter.readConfiguration())
        return (loaded.files.map(\.path), loaded.nestedPackages)
    }

    @Test("An Xcode app includes its nested packages, and their layers apply")
    func app() throws {
        var files = Self.models
        files["App/Main.swift"] = "import Models\nimport Network2"
        files["keel-lint.yml"] = Self.layers
        let report = try TemporaryProject(files).lint()
        #expect(
            report.findings.map { "\($0.file):\($0.line) \($0.rule)" } == [
                "Packages/Models/Sources/Models/A.swift:1 layers"
            ]
        )
        #expect(report.fileCount == 4)
    }

    @Test("A package includes its path dependencies, direct and transitive")
    func dependencies() throws {
        var files = Self.models
        files["Package.swift"] = """
            let package = Package(dependencies: [.package(name: "N", path: "./Packages/Network2/")])
            """
        files["Sources/App/Main.swift"] = "import Network2"
        files["Examples/Demo/Package.swift"] = ""
        files["Examples/Demo/Sources/Demo/D.swift"] = "import Network2"
        let found = try read(files)
        #expect(found.files.count == 4)
        #expect(found.left == ["Examples/Demo"])
    }

    @Test("Only packages that `packages` names belong to the project")
    func named() throws {
        var files = Self.models
        files["App/Main.swift"] = ""
        files["keel-lint.yml"] = "packages: [\"Packages/M*\"]"
        #expect(try read(files).left == ["Packages/Network2"])
        files["keel-lint.yml"] = "packages: []"
        #expect(try read(files).files == ["App/Main.swift"])
        files["keel-lint.yml"] = "packages: [Packages/Gone]"
        let report = try TemporaryProject(files).lint()
        #expect(report.findings.map(\.rule) == ["matches-nothing"])
        #expect(report.notes.count { $0.text.contains("`packages`") } == 2)
    }

    @Test("A package with its own configuration is left out")
    func configured() throws {
        var files = Self.models
        files["App/Main.swift"] = ""
        files["Packages/Models/keel-lint.yml"] = "version: 1"
        #expect(try read(files).left == ["Packages/Models"])
    }

    @Test("Package targets have their names and folders, declared or not")
    func targets() throws {
        let project = try TemporaryProject([
            "Local/Package.swift":
                "let package = Package(targets: [.target(name: \"Odd\", path: \"Code\")])",
            "Local/Code/A.swift": "", "Local/Tests/OddTests/B.swift": "", "App/C.swift": "",
        ])
        let files = Linter(root: project.root).load(nil).files
        #expect(files.map { $0.target ?? "-" } == ["-", "Odd", "OddTests"])
        #expect(files.map(\.isTest) == [false, false, true])
    }
}
