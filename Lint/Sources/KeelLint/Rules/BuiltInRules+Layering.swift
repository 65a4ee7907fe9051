extension BuiltInRules {
    /// The rules about layers: which may use which, and what may cross between them.
    static let layering = [
        RuleDescription(
            "layers",
            "A layer uses only itself and the layers that it names under `uses`.",
            reason:
                """
                Code changes together with what it uses. If a lower layer uses a higher one, a change of a \
                screen can break what every other screen stands on, and nothing below can be tested or \
                reused alone.
                """,
            violation:
                """
                // Infrastructure/Client.swift\nfunc save(_ note: Note) {}   // Note is \
                declared in Domain
                """,
            correction:
                """
                // Infrastructure/Client.swift\nfunc save(_ body: Data) {}   // Data maps \
                Note to a body
                """,
            help: "Move the code, pass a plain value, or declare a protocol in the lower layer.",
            limits:
                """
                Names that are inferred are not seen, nor free functions and global \
                variables of the same module. Tests are not asked.
                """,
            isOnByDefault: true
        ),
        RuleDescription(
            "cycles",
            "Layers do not use each other in a circle.",
            reason:
                """
                Layers in a circle are one layer: none of them can be understood, tested or moved \
                without the others.
                """,
            violation:
                """
                // Feed/Feed.swift\nlet profile: Profile\n// Profile/Profile.swift\nlet feed: \
                Feed   // and each layer may use the other
                """,
            correction: "// Model/Author.swift, which both use\nstruct Author {}",
            help: "Move what both need into a layer below, or declare a protocol there.",
            limits:
                """
                It looks at uses that `layers` allows; the others are findings already. A contract \
                `acyclic` looks at targets, folders or any other parts.
                """,
            isOnByDefault: true
        ),
        RuleDescription(
            "domain-imports",
            """
            The domain imports no infrastructure: no Keel, no vendor, no user interface, no \
            network.
            """,
            reason:
                """
                The rules of the business live longer than the database, the network library and the user \
                interface. A domain that imports none of them survives their change, compiles on every \
                platform and is tested without them.
                """,
            violation: "// Domain/Note.swift\nimport KeelStorage",
            correction:
                """
                // Domain/NoteRepository.swift\nprotocol NoteRepository { func notes() async \
                throws -> [Note] }
                """,
            help:
                """
                Declare a protocol in the domain, and implement it in the data layer with \
                this module.
                """,
            limits:
                """
                A module that is not on the list passes; name it under `also`. Where SwiftData's \
                models are meant to be the domain, `allow: [SwiftData]` says so.
                """,
            profile: .cleanArchitecture,
            roles: [.domain]
        ),
        RuleDescription(
            "dto-leak",
            "A transfer object appears in no signature outside of data and infrastructure.",
            reason:
                """
                A transfer object has the form that a server or a database gives it. Where only the data \
                layer knows that form, a renamed field is a change in one place; where screens know it, it \
                is a change in all of them.
                """,
            violation: "// Presentation/NoteView.swift\ninit(note: NoteDTO) {}",
            correction: "// Presentation/NoteView.swift\ninit(note: Note) {}",
            help: "Take the domain's entity; map the transfer object in the data layer.",
            limits:
                """
                It goes by names (`transfer-objects`); what is used inside functions is \
                found by `layers`.
                """,
            profile: .cleanArchitecture,
            roles: [.domain, .presentation, .shared]
        ),
        RuleDescription(
            "dto-codable",
            "A transfer object is Codable, Decodable or Encodable.",
            reason:
                """
                A transfer object describes what is sent or stored, and coding it is its only work. One that \
                cannot be coded is something else under a name that misleads.
                """,
            violation: "struct NoteDTO { let id: String }",
            correction: "struct NoteDTO: Codable { let id: String }",
            help: "Add the conformance, or give the type another name.",
            limits:
                """
                It goes by names; conformances through another protocol of the project are \
                followed.
                """,
            profile: .dataLayer,
            roles: [.data, .infrastructure]
        ),
        RuleDescription(
            "dto-separate",
            "A transfer object holds no entity of the domain and is none.",
            reason:
                """
                An entity inside a transfer object is coded as it is: renaming a property of the entity then \
                changes what is sent and what is read from disk, and old data no longer decode.
                """,
            violation: "struct NotePageDTO: Codable { let notes: [Note] }   // Note is the entity",
            correction: "struct NotePageDTO: Codable { let notes: [NoteDTO] }",
            help: "Give the transfer object fields of its own, and map them.",
            limits: "It needs a layer of the role domain to know entities by.",
            profile: .dataLayer,
            roles: [.data, .infrastructure]
        ),
        RuleDescription(
            "repository-conformance",
            "A repository of the data layer implements a protocol of the domain.",
            reason:
                """
                The domain says by a protocol what it needs, and the data layer gives it. Without the \
                protocol, whoever uses the repository depends on how it works, and tests need its database.
                """,
            violation: "// Data\nfinal class NoteRepositoryImpl {}",
            correction:
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
            profile: .cleanArchitecture,
            roles: [.data]
        ),
        RuleDescription(
            "transport-errors",
            "Errors of the transport reach neither domain nor presentation.",
            reason:
                """
                A screen that handles `URLError` knows that there is a network, and stops handling the error \
                when the data come from elsewhere. An error of the domain says what went wrong for the user.
                """,
            violation: "// Presentation\ncatch let error as URLError { … }",
            correction: "// Presentation\ncatch DomainError.offline { … }",
            help: "Map it in the data layer to an error that the domain declares.",
            limits:
                """
                It goes by names; name further ones under `also`. A type of that name that \
                the domain declares itself passes, and so do the errors of coding where coding is \
                written.
                """,
            profile: .cleanArchitecture,
            roles: [.domain, .presentation]
        ),
        RuleDescription(
            "vendor-modules",
            "Modules of vendors are imported only where adapters are.",
            reason:
                """
                Each file that imports a library must change when the library does. Behind a protocol, in \
                one adapter, the library can be replaced, updated, and left out of tests.
                """,
            violation: "// Presentation/NotesView.swift\nimport FirebaseFirestore",
            correction: "// Infrastructure/FirestoreNotes.swift\nimport FirebaseFirestore",
            help: "Put it behind a protocol, in an adapter of the infrastructure.",
            limits:
                """
                The list is Keel's; `also` adds modules, `allow` removes some. Views may import \
                what has views or property wrappers for them: PhotosUI, StoreKit, SwiftData and the \
                like. Where no layer has the role infrastructure, data may import all of them.
                """,
            profile: .cleanArchitecture,
            roles: [.domain, .presentation, .shared, .data]
        ),
        RuleDescription(
            "vendor-reexport",
            "No module of a vendor is passed on: no `@_exported import`, no `public import`.",
            reason:
                """
                A module that is passed on can be used by everybody who imports yours, without a word in \
                their files. It then cannot be replaced without changing theirs.
                """,
            violation: "@_exported import Alamofire",
            correction: "internal import Alamofire",
            help:
                "Import it without `public` and without `@_exported`, and wrap what callers need.",
            limits: "It knows the modules that `vendor-modules` knows.",
            profile: .cleanArchitecture,
            roles: []
        ),
    ]
}
