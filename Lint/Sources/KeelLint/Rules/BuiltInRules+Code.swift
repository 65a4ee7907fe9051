extension BuiltInRules {
    /// The rules about code: what a function, a type or a name must not do.
    static let code = [
        RuleDescription(
            "ambient-effects",
            """
            The domain does not reach for the clock, randomness, files, the network or the \
            console by itself.
            """,
            reason:
                """
                What comes in from outside can be replaced in a test (document 001: \
                everything can be mocked).
                """,
            bad: "let note = Note(id: UUID(), writtenAt: Date())",
            good: "let note = Note(id: makeID(), writtenAt: clock.now())",
            help: "Take it as a parameter, or through a protocol of the domain.",
            limits:
                """
                A type of your own called `Date` is told from Foundation's only if it is \
                declared in the project.
                """,
            roles: [.domain]
        ),
        RuleDescription(
            "missing-test-double",
            "A port has a double for tests.",
            reason:
                """
                A protocol is there to be replaced (document 001: mock everything; document \
                003: mock data for testing).
                """,
            bad: "protocol NoteRepository {}   // no Mock, Fake, Stub, … conforms to it",
            good: "// Tests\nstruct InMemoryNoteRepository: NoteRepository {}",
            help: "Write a type in the tests that conforms to the protocol.",
            limits:
                """
                It looks at protocols that are called like ports (`…Repository`, \
                `…DataSource`, `…Client`, `…Service`, …) and at conformances that are \
                written down.
                """,
            severity: .warning,
            roles: [.domain, .data, .infrastructure]
        ),
        RuleDescription(
            "swallowed-mapping",
            """
            A missing value is not replaced by one that is made up: no `?? UUID()`, no `?? \
            Date()`.
            """,
            reason:
                """
                The entity would get another identity with each decoding, and nobody would \
                see that the data are bad (document 003 does this; it is a flaw).
                """,
            bad: "id: UUID(uuidString: id) ?? UUID()",
            good: "guard let id = UUID(uuidString: id) else { throw MappingError.badID(id) }",
            help: "Throw an error that names the field, or leave the element out and count it.",
            limits: "It finds `UUID()`, `Date()`, `.now` and `.random(…)` to the right of `??`.",
            roles: []
        ),
        RuleDescription(
            "swallowed-write",
            "A write's failure is not dropped with `try?`.",
            reason:
                """
                Data that the user believes to be saved are lost (document 003 does this in \
                its offline-first example; it is a flaw).
                """,
            bad: "try? await localSource.save(notes)",
            good: "do { try await localSource.save(notes) } catch { log.error(\"…\", error) }",
            help: "Throw it on, or handle and log it.",
            limits:
                "It goes by the function's name: save, write, insert, delete, update and the like.",
            roles: []
        ),
        RuleDescription(
            "entity-in-store",
            "Entities of the domain are not handed to a store or cache.",
            reason: "The stored form would change with the entity (document 003, mistake 2).",
            bad: "func save(_ note: Note) async throws { try await database.save(note) }",
            good:
                """
                func save(_ note: Note) async throws { try await \
                database.save(NoteRecord(note)) }
                """,
            help: "Convert it to a record of the data layer first.",
            limits:
                """
                It sees parameters and variables whose type is written down, and `as: \
                Entity.self`; the receiver must be called like a store, cache or database.
                """,
            roles: [.data, .infrastructure]
        ),
        RuleDescription(
            "repository-business-rule",
            "A repository fetches, keeps, maps and returns; it does not decide.",
            reason: "Rules of the business belong to the domain (document 003, mistake 1).",
            bad: "return dtos.filter { $0.rating > 4 }.map { $0.toDomain() }",
            good: "return dtos.map { $0.toDomain() }",
            help: "Move the decision to a use case of the domain.",
            limits:
                """
                A guess: it finds `filter`, `sorted`, `reduce`, `min`, `max` with a closure \
                in types called …Repository. Access to data needs these at times; so it is \
                off unless asked for.
                """,
            isOnByDefault: false,
            severity: .warning,
            roles: [.data]
        ),
        RuleDescription(
            "unmapped-errors",
            "A repository maps the errors of its sources.",
            reason: "Otherwise the network's errors reach the screen (document 003, mistake 3).",
            bad: "func user() async throws -> User { try await api.fetch() }",
            good:
                """
                func user() async throws(DomainError) -> User { do { … } catch { throw \
                DomainError(error) } }
                """,
            help:
                """
                Catch, and throw an error of the domain; or declare `throws(DomainError)`, \
                and the compiler watches.
                """,
            limits:
                """
                A guess: it finds a `try` that no `catch` sees, in functions of types called \
                …Repository that throw without a type. It is off unless asked for.
                """,
            isOnByDefault: false,
            severity: .warning,
            roles: [.data]
        ),
        RuleDescription(
            "dto-mapping",
            "A transfer object has a `toDomain()`.",
            reason: "So that everybody finds the mapping (document 003, DTO checklist).",
            bad: "struct NoteDTO: Codable {}",
            good: "extension NoteDTO { func toDomain() throws -> Note { … } }",
            help: "Add the function to the type or to an extension of it.",
            limits:
                """
                It wants this name, so it is off unless asked for. Transfer objects that are \
                part of another one are left alone.
                """,
            isOnByDefault: false,
            severity: .warning,
            roles: [.data]
        ),
        RuleDescription(
            "naming",
            "Types and files are called and placed as the configuration says.",
            reason:
                """
                A name tells the place, and the place the name (documents 001 and 003, rules \
                for files).
                """,
            bad: "// Domain/Login.swift\nenum AuthEndpoint {}",
            good: "// Infrastructure/Network/Endpoints/AuthEndpoint.swift\nenum AuthEndpoint {}",
            help: "Rename or move it.",
            limits: "It knows what `profile` and `naming` say, and nothing else."
        ),
    ]
}
