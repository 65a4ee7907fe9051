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
                A function that asks for the time, a random number or a file by itself gives another result \
                each time, so that a test cannot say what it should be. What is passed in can be fixed.
                """,
            violation: "let note = Note(id: UUID(), writtenAt: Date())",
            correction: "let note = Note(id: makeID(), writtenAt: clock.now())",
            help: "Take it as a parameter, or through a protocol of the domain.",
            limits:
                """
                A type of your own called `Date` is told from Foundation's only if it is \
                declared in the project. The default value of a parameter passes, because a test \
                passes another.
                """,
            profile: .cleanArchitecture,
            roles: [.domain]
        ),
        RuleDescription(
            "missing-test-double",
            "A port has a double for tests.",
            reason:
                """
                A protocol in front of a database or a network is there so that tests can do without them. \
                Where nothing else conforms to it, either such tests are missing, or the protocol is not needed.
                """,
            violation: "protocol NoteRepository {}   // no Mock, Fake, Stub, … conforms to it",
            correction: "// Tests\nstruct InMemoryNoteRepository: NoteRepository {}",
            help: "Write a type in the tests that conforms to the protocol.",
            limits:
                """
                It looks at protocols that are called like ports (`…Repository`, \
                `…DataSource`, `…Client`, `…Service`, …) and at conformances that are \
                written down.
                """,
            profile: .services,
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
                A made-up id or date is another one each time the same data are decoded: lists flicker, \
                favourites lose their entry, and nobody learns that the data are bad.
                """,
            violation: "id: UUID(uuidString: id) ?? UUID()",
            correction: "guard let id = UUID(uuidString: id) else { throw MappingError.badID(id) }",
            help: "Throw an error that names the field, or leave the element out and count it.",
            limits: "It finds `UUID()`, `Date()`, `.now` and `.random(…)` to the right of `??`.",
            profile: .dataLayer,
            roles: [.data, .infrastructure]
        ),
        RuleDescription(
            "swallowed-write",
            "A write's failure is not dropped with `try?`.",
            reason:
                """
                The user believes the data to be saved. If the write failed, they are lost, and neither the \
                program nor its log knows.
                """,
            violation: "try? await localSource.save(notes)",
            correction:
                "do { try await localSource.save(notes) } catch { log.error(\"…\", error) }",
            help: "Throw it on, or handle and log it.",
            limits:
                """
                It goes by the first word of the function's name: save, write, insert, delete, update \
                and the like. A `try?` whose value is looked at passes.
                """,
            profile: .dataLayer,
            roles: []
        ),
        RuleDescription(
            "entity-in-store",
            "Entities of the domain are not handed to a store or cache.",
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
                It sees parameters and variables whose type is written down, and `as: \
                Entity.self`; the receiver's name must end like a store's: `noteStore`, `imageCache`, \
                `viewContext`.
                """,
            profile: .dataLayer,
            roles: [.data, .infrastructure]
        ),
        RuleDescription(
            "repository-business-rule",
            "A repository fetches, keeps, maps and returns; it does not decide.",
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
                A guess: it finds `filter`, `sorted`, `reduce`, `min`, `max` with a closure \
                in types called …Repository. Access to data needs these at times, so no profile \
                has it.
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
                and the compiler watches.
                """,
            limits:
                """
                A guess: it finds a `try` that no `catch` sees, in functions of types called \
                …Repository that throw without a type. No profile has it.
                """,
            severity: .warning,
            roles: [.data]
        ),
        RuleDescription(
            "dto-mapping",
            "A transfer object has a `toDomain()`.",
            reason:
                """
                The step from a transfer object to an entity has the same name in each transfer object, \
                so that readers find it.
                """,
            violation: "struct NoteDTO: Codable {}",
            correction: "extension NoteDTO { func toDomain() throws -> Note { … } }",
            help: "Add the function to the type or to an extension of it.",
            limits:
                """
                `domain` and `asDomain` are fine too. Transfer objects that are only sent, or are \
                part of another one, are left alone. An envelope or a token needs no such function, \
                so no profile has the rule.
                """,
            severity: .warning,
            roles: [.data]
        ),
        RuleDescription(
            "naming",
            "Types and files are called and placed as the configuration says.",
            reason:
                """
                Where names tell places and places tell names, nobody searches, and two people who add the \
                same kind of type do it alike.
                """,
            violation: "// Domain/Login.swift\nenum AuthEndpoint {}",
            correction:
                "// Infrastructure/Network/Endpoints/AuthEndpoint.swift\nenum AuthEndpoint {}",
            help: "Rename or move it.",
            limits: "It knows what `naming` and the profiles for names say, and nothing else.",
            isOnByDefault: true
        ),
    ]
}
