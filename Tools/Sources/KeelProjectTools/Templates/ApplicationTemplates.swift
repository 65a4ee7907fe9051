/// The composition root.
enum ApplicationTemplates {
    static let all: [AppTemplate] = [
        composition,
        app,
    ]

    private static let composition = AppTemplate(
        "Sources/__App__/Composition.swift",
        #"""
        import Foundation
        import Keel
        import __App__Data
        import __App__Domain
        import __App__Presentation

        /// The composition root: the one place that knows all layers, and what they stand on.
        struct Composition {
            let useCases: UseCases

            init(_ environment: [String: String]) throws {
                var keel = KeelConfiguration.production("__App__")
                // The backend is one line: a Keel server, a file or memory in place of the app's own folder.
                if let server = environment["__VARIABLE___SERVER"].flatMap(URL.init(string:)) {
                    keel.storage = .server(server)
                } else if let file = environment["__VARIABLE___FILE"] {
                    keel.storage = .file(URL(filePath: file))
                }
                let notes = StoredNoteRepository(try keel.makeStorage())
                useCases = UseCases(
                    add: AddNote(
                        notes,
                        makeID: { Note.ID(String(UUID().uuidString.prefix(8))) },
                        now: { Date.now }
                    ),
                    finish: FinishNote(notes),
                    list: ListNotes(notes)
                )
            }
        }

        """#
    )

    private static let app = AppTemplate(
        "Sources/__App__/__App__App.swift",
        #"""
        import Foundation
        import __App__Presentation

        @main
        struct __App__App {
            static func main() async throws {
                let composition = try Composition(ProcessInfo.processInfo.environment)
                let screen = CommandLineScreen(composition.useCases) { print($0) }
                let isDone = await screen.run(Array(CommandLine.arguments.dropFirst()))
                exit(isDone ? 0 : 1)
            }
        }

        """#
    )
}
