import KeelLint
import Testing

@Suite("The linter in a test")
struct ExampleTests {
    private let project: TemporaryProject
    private let packageRoot: String

    init() throws {
        project = try TemporaryProject([
            "Notes/Domain/Note.swift": "struct Note {}",
            "Notes/Presentation/NoteView.swift": "struct NoteView { let note: Note }",
        ])
        packageRoot = project.root
    }

    @Test func layersHold() throws {
        #expect(try Linter(root: packageRoot).run().findings.isEmpty)
    }

    @Test("The same call finds a broken layer")
    func finds() throws {
        try project.write("Notes/Domain/Screen.swift", "struct Screen { let view: NoteView }")
        #expect(try Linter(root: packageRoot).run().findings.map(\.rule) == ["layers"])
    }
}
