extension BuiltInRules {
    /// The rules about code and names.
    static let code = [
        RuleDescription(
            "ambient-effects",
            """
            The domain does not access the clock, randomness, files, the network or the \
            console directly.
            """,
            reason:
                """
                A function that reads the time, a random number or a file itself gives a different result \
                each time, so a test cannot predict it. A value that is passed in can be fixed.
                """,
            violation: "let note = Note(id: UUID(), writtenAt: Date())",
            correction: "let note = Note(id: makeID(), writtenAt: clock.now())",
            help: "Take it as a parameter, or through a protocol of the domain.",
            limits:
                """
                A type of your own called `Date` is distinguished from Foundation's only if it is \
                declared in the project. The default value of a parameter is allowed, because a \
                test can pass another one.
                """,
            profile: .cleanArchitecture,
            roles: [.domain]
        ),
        RuleDescription(
            "missing-test-double",
            "A port has a double for tests.",
            reason:
                """
                A protocol in front of a database or a network lets tests do without them. \
                If nothing else conforms to it, either such tests are missing or the protocol is unnecessary.
                """,
            violation:
                "protocol NoteRepository { func notes() }   // no Mock, Fake, Stub, … conforms to it",
            correction: "// Tests\nstruct InMemoryNoteRepository: NoteRepository { … }",
            help: "Write a type in the tests that conforms to the protocol.",
            limits:
                """
                It checks protocols with requirements that are named like ports (`…Repository`, \
                `…DataSource`, `…Client`, `…Service`, …) and conformances that are \
                written down.
                """,
            profile: .services,
            severity: .warning,
            roles: [.domain, .data, .infrastructure]
        ),
        RuleDescription(
            "swallowed-mapping",
            """
            A missing value is not replaced by an invented one: no `?? UUID()`, no `?? \
            Date()`.
            """,
            reason:
                """
                An invented id or date differs each time the same data is decoded: lists flicker, \
                favorites lose their entry, and the bad data goes unnoticed.
                """,
            violation: "id: UUID(uuidString: id) ?? UUID()",
            correction: "guard let id = UUID(uuidString: id) else { throw MappingError.badID(id) }",
            help: "Throw an error that names the field, or skip the element and count it.",
            limits: "It finds `UUID()`, `Date()`, `.now` and `.random(…)` to the right of `??`.",
            profile: .dataLayer,
            roles: [.data, .infrastructure]
        ),
        RuleDescription(
            "swallowed-write",
            "A write's failure is not dropped with `try?`.",
            reason:
                """
                The user believes that the data is saved. If the write failed, it is lost, and neither the \
                program nor its log records that.
                """,
            violation: "try? await localSource.save(notes)",
            correction:
                "do { try await localSource.save(notes) } catch { log.error(\"…\", error) }",
            help: "Rethrow the error, or handle and log it.",
            limits:
                """
                It goes by the first word of the function's name: save, write, insert, delete, update \
                and the like. A `try?` whose value is used is allowed. Without `return`, that of a \
                closure counts as used if it declares a result or is an argument of `map` or the \
                like.
                """,
            profile: .dataLayer,
            roles: []
        ),
        RuleDescription(
            "entity-in-store",
            "Entities of the domain are not passed to a store or cache.",
            reason:
                """
                Stored data outlives the version of the program that wrote it. An entity that is stored \
                as it is cannot change without making older data unreadable; a separate record can.
                """,
            violation: "func save(_ note: Note) async throws { try await database.save(note) }",
            correction:
                """
                func save(_ note: Note) async throws { try await \
                database.save(NoteRecord(note)) }
                """,
            help: "Convert it to a record of the data layer first.",
            limits:
                """
                It sees parameters and local variables with an explicit type, `Entity(…)`, and \
                `Entity.self` in a call of `collection`; the receiver's name must end like a \
                store's: `noteStore`, `imageCache`, `viewContext`.
                """,
            profile: .dataLayer,
            roles: [.data, .infrastructure]
        ),
        RuleDescription(
            "repository-business-rule",
            "A repository fetches, stores, maps and returns; it makes no decisions.",
            reason:
                """
                A decision made in a repository holds only for the callers of that repository, and testing \
                it takes a database. In the domain it holds everywhere.
                """,
            violation: "return dtos.filter { $0.rating > 4 }.map { $0.toDomain() }",
            correction: "return dtos.map { $0.toDomain() }",
            help: "Move the decision to a use case of the domain.",
            limits:
                """
                A heuristic: it finds `filter`, `sorted`, `reduce`, `min`, `max` and the like \
                with a trailing closure in types named …Repository or …RepositoryImpl. Data access \
                sometimes needs these, so no profile includes the rule.
                """,
            severity: .warning,
            roles: [.data]
        ),
        RuleDescription(
            "unmapped-errors",
            "A repository maps the errors of its sources.",
            reason:
                """
                Otherwise the errors of the network and of the database reach the screen, which cannot tell \
                the user what they mean.
                """,
            violation: "func user() async throws -> User { try await api.fetch() }",
            correction:
                """
                func user() async throws(DomainError) -> User { do { … } catch { throw \
                DomainError(error) } }
                """,
            help:
                """
                Catch, and throw an error of the domain; or declare `throws(DomainError)`, \
                and the compiler enforces it.
                """,
            limits:
                """
                A heuristic: it finds a `try` without a `catch` in functions of types named \
                …Repository or …RepositoryImpl that throw untyped errors. No profile includes the \
                rule.
                """,
            severity: .warning,
            roles: [.data]
        ),
        RuleDescription(
            "dto-mapping",
            "A transfer object has a `toDomain()` method.",
            reason:
                """
                The conversion from a transfer object to an entity has the same name everywhere, \
                so readers can find it.
                """,
            violation: "struct NoteDTO: Codable {}",
            correction: "extension NoteDTO { func toDomain() throws -> Note { … } }",
            help: "Add the function to the type or to an extension of it.",
            limits:
                """
                `domain` and `asDomain` are fine too. Transfer objects that are only sent, or are \
                part of another one, are exempt. An envelope or a token needs no such function, \
                so no profile includes the rule.
                """,
            severity: .warning,
            roles: [.data]
        ),
        RuleDescription(
            "naming",
            "Types and files are named and placed as the configuration says.",
            reason:
                """
                If names and locations determine each other, nobody has to search, and two people who add the \
                same kind of type do so in the same way.
                """,
            violation: "// Domain/Login.swift\nenum AuthEndpoint {}",
            correction:
                "// Infrastructure/Network/Endpoints/AuthEndpoint.swift\nenum AuthEndpoint {}",
            help: "Rename or move it.",
            limits: "It checks only what `naming` and the profiles for names say.",
            isOnByDefault: true
        ),
    ]
}
