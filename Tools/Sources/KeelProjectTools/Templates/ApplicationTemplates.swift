/// The composition root.
enum ApplicationTemplates {
    static let all: [AppTemplate] = [
        composition,
        app,
    ]

    /// The statements that compose an app.
    static let composing = #"""
                var keel = KeelConfiguration.production("__App__")
                // The backend is one line: replace the app's folder by a Keel server, another file or memory.
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
        """#

    private static let composition = AppTemplate(
        "Sources/__App__/Composition.swift",
        #"""
        import Foundation
        import Keel
        import __App__Data
        import __App__Domain
        import __App__Presentation

        /// The composition root: the only place that knows all layers and the infrastructure.
        struct Composition {
            let useCases: UseCases

            init(_ environment: [String: String]) throws {
        \#(composing)
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
