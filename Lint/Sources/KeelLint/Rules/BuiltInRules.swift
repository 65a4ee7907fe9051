/// The rules that are built in.
public enum BuiltInRules: Sendable {
    /// All of them: those about layers, those about code, and those about the linter's own upkeep.
    public static let all: [RuleDescription] = layering + code + upkeep

    /// The rule with an id.
    ///
    /// - Parameter id: The id, such as `ambient-effects`.
    /// - Returns: The rule, or nil if there is none.
    public static func named(_ id: String) -> RuleDescription? { byID[id] }

    private static let byID = Dictionary(
        all.map { ($0.id, $0) },
        uniquingKeysWith: { first, _ in first }
    )

    private static let layering = [
        RuleDescription(
            "layers",
            "A layer uses only itself and the layers that it names under `uses`.",
            reason:
                """
                Each direction that is forbidden is a change that cannot spread (document \
                001, rules of dependency).
                """,
            bad:
                """
                // Infrastructure/Client.swift\nfunc save(_ note: Note) {}   // Note is \
                declared in Domain
                """,
            good:
                """
                // Infrastructure/Client.swift\nfunc save(_ body: Data) {}   // Data maps \
                Note to a body
                """,
            help: "Move the code, pass a plain value, or declare a protocol in the lower layer.",
            limits:
                """
                Names that are inferred are not seen, nor free functions and global \
                variables of the same module.
                """
        ),
        RuleDescription(
            "domain-imports",
            """
            The domain imports no infrastructure: no Keel, no vendor, no user interface, no \
            network.
            """,
            reason:
                """
                The domain is what stays when the framework changes (document 001: Domain → \
                Infrastructure is forbidden).
                """,
            bad: "// Domain/Note.swift\nimport KeelStorage",
            good:
                """
                // Domain/NoteRepository.swift\nprotocol NoteRepository { func notes() async \
                throws -> [Note] }
                """,
            help:
                """
                Declare a protocol in the domain, and implement it in the data layer with \
                this module.
                """,
            limits: "A module that is not on the list passes; name it under `also`.",
            roles: [.domain]
        ),
        RuleDescription(
            "dto-leak",
            "A transfer object appears in no signature outside of data and infrastructure.",
            reason:
                """
                DTOs live only in the data layer, so that a change of the API stays there \
                (documents 001 and 003).
                """,
            bad: "// Presentation/NoteView.swift\ninit(note: NoteDTO) {}",
            good: "// Presentation/NoteView.swift\ninit(note: Note) {}",
            help: "Take the domain's entity; map the transfer object in the data layer.",
            limits:
                """
                It goes by names (`transfer-objects`); what is used inside functions is \
                found by `layers`.
                """,
            roles: [.domain, .presentation, .shared]
        ),
        RuleDescription(
            "dto-codable",
            "A transfer object is Codable, Decodable or Encodable.",
            reason:
                """
                It says what the API sends (document 001: DTO checklist; document 003: \
                Codable conformance).
                """,
            bad: "struct NoteDTO { let id: String }",
            good: "struct NoteDTO: Codable { let id: String }",
            help: "Add the conformance, or give the type another name.",
            limits:
                """
                It goes by names; conformances through another protocol of the project are \
                followed.
                """,
            roles: [.data, .infrastructure]
        ),
        RuleDescription(
            "dto-separate",
            "A transfer object holds no entity of the domain and is none.",
            reason:
                """
                Otherwise the API's form and the entity change together (document 001: \
                separate from the entity).
                """,
            bad: "struct NotePageDTO: Codable { let notes: [Note] }   // Note is the entity",
            good: "struct NotePageDTO: Codable { let notes: [NoteDTO] }",
            help: "Give the transfer object fields of its own, and map them.",
            limits: "It needs a layer of the role domain to know entities by.",
            roles: [.data, .infrastructure]
        ),
        RuleDescription(
            "repository-conformance",
            "A repository of the data layer implements a protocol of the domain.",
            reason:
                """
                The domain says what it needs, the data layer gives it (document 003, \
                repository checklist).
                """,
            bad: "// Data\nfinal class NoteRepositoryImpl {}",
            good:
                """
                // Data\nfinal class NoteRepositoryImpl: NoteRepository {}   // declared in \
                Domain
                """,
            help: "Declare the protocol in the domain and conform to it.",
            limits:
                """
                It goes by names with `Repository` in them. A repository that conforms to a \
                type from outside the project passes.
                """,
            roles: [.data]
        ),
        RuleDescription(
            "transport-errors",
            "Errors of the transport reach neither domain nor presentation.",
            reason:
                """
                The data layer maps TransportError to the domain's error (documents 001 and \
                003, mistake 3).
                """,
            bad: "// Presentation\ncatch let error as URLError { … }",
            good: "// Presentation\ncatch DomainError.offline { … }",
            help: "Map it in the data layer to an error that the domain declares.",
            limits:
                """
                It goes by names; name further ones under `also`. A type of that name that \
                the domain declares itself passes.
                """,
            roles: [.domain, .presentation]
        ),
        RuleDescription(
            "vendor-modules",
            "Modules of vendors are imported only where adapters are.",
            reason:
                """
                A change of the framework must touch one layer (document 001: the effect on \
                Domain and Data is small).
                """,
            bad: "// Presentation/NotesView.swift\nimport FirebaseFirestore",
            good: "// Infrastructure/FirestoreNotes.swift\nimport FirebaseFirestore",
            help: "Put it behind a protocol, in an adapter of the infrastructure.",
            limits:
                """
                The list is Keel's; `also` adds modules, `allow` removes some. Where no \
                layer has the role infrastructure, data may import them.
                """,
            roles: [.domain, .presentation, .shared, .data]
        ),
        RuleDescription(
            "vendor-reexport",
            "No module of a vendor is passed on: no `@_exported import`, no `public import`.",
            reason:
                """
                Who imports the adapter gets the vendor too, without saying so (document \
                001, framework isolation).
                """,
            bad: "@_exported import Alamofire",
            good: "internal import Alamofire",
            help:
                "Import it without `public` and without `@_exported`, and wrap what callers need.",
            limits: "It knows the modules that `vendor-modules` knows.",
            roles: []
        ),
    ]

    private static let code = [
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

    private static let upkeep = [
        RuleDescription(
            "allow-reason",
            "Who allows a finding says why.",
            reason: "The next reader cannot tell an exception from a mistake without a reason.",
            bad: "import Alamofire  // keel:allow(vendor-modules)",
            good:
                """
                import Alamofire  // keel:allow(vendor-modules) the share extension has no \
                adapter
                """,
            help: "Write the reason after the bracket.",
            limits: "It does not judge the reason."
        ),
        RuleDescription(
            "stale-allow",
            "A comment that allows something allows something.",
            reason: "An allow that outlives its finding would hide the next one.",
            bad: "// keel:allow(ambient-effects) the clock of the demo\nlet answer = 42",
            good: "let answer = 42",
            help: "Remove the comment, or name a rule that exists.",
            limits: "An allow for a rule that is switched off counts as stale too.",
            severity: .warning
        ),
        RuleDescription(
            "stale-baseline",
            "What the baseline lists is still found.",
            reason: "A line that nothing matches would hide the same fault when it comes back.",
            bad: "layers Sources/A.swift import B   # nobody imports B any more",
            good: "# the line is gone",
            help: "Run `keel-lint --prune-baseline`.",
            limits: "It compares rule, file and symbol.",
            severity: .warning
        ),
        RuleDescription(
            "matches-nothing",
            "Whatever the configuration names is there.",
            reason: "A rule that matches no file holds for ever and says nothing.",
            bad: "- name: Domain\n  paths: [Source/Domain]   # the folder is called Sources",
            good: "- name: Domain\n  paths: [Sources/Domain]",
            help: "Correct the name, or remove it.",
            limits: "Modules from outside need not be imported: that they are not may be the point."
        ),
    ]
}
