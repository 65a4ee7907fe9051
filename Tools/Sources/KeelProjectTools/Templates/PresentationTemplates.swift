/// The user interface.
enum PresentationTemplates {
    static let all: [AppTemplate] = [
        commandLineScreen,
        useCases(in: "Presentation"),
    ]

    private static let commandLineScreen = AppTemplate(
        "Sources/__App__Presentation/CommandLineScreen.swift",
        #"""
        internal import Foundation
        internal import __App__Domain

        /// The app on a command line: `add TEXT`, `done ID`, `list`, `watch`.
        public struct CommandLineScreen: Sendable {
            private let useCases: UseCases
            private let show: @Sendable (String) -> Void

            /// Creates the screen.
            ///
            /// - Parameters:
            ///   - useCases: The use cases.
            ///   - show: The function that shows a line.
            public init(_ useCases: UseCases, show: @escaping @Sendable (String) -> Void) {
                self.useCases = useCases
                self.show = show
            }

            /// Runs the command in the arguments.
            ///
            /// - Returns: Whether the command succeeded.
            public func run(_ arguments: [String]) async -> Bool {
                let rest = arguments.dropFirst().joined(separator: " ")
                do throws(DomainError) {
                    switch arguments.first {
                    case "add": show(Self.line(try await useCases.add(rest)))
                    case "done": show(Self.line(try await useCases.finish(Note.ID(rest))))
                    case "list": showAll(try await useCases.list())
                    case "watch": try await useCases.list.watch(showAll)
                    default:
                        show("usage: __program__ add TEXT | done ID | list | watch")
                        return false
                    }
                    return true
                } catch {
                    show(error.errorDescription ?? "\(error)")
                    if let advice = error.recoverySuggestion { show(advice) }
                    return false
                }
            }

            private func showAll(_ notes: [Note]) {
                show(notes.isEmpty ? "Nothing to do." : notes.map(Self.line).joined(separator: "\n"))
            }

            private static func line(_ note: Note) -> String {
                "\(note.isDone ? "✓" : "○") \(note.id.text)  \(note.text)"
            }
        }

        """#
    )

    /// Returns the use cases, in the layer with the screens.
    static func useCases(in layer: String) -> AppTemplate {
        AppTemplate(
            "Sources/__App__\(layer)/UseCases.swift",
            #"""
            public import __App__Domain

            /// The use cases of the screens.
            public struct UseCases: Sendable {
                let add: AddNote
                let finish: FinishNote
                let list: ListNotes

                /// Creates the value from the composition root's objects.
                public init(add: AddNote, finish: FinishNote, list: ListNotes) {
                    self.add = add
                    self.finish = finish
                    self.list = list
                }
            }

            """#
        )
    }
}
