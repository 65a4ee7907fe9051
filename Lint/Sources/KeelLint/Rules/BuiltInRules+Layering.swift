extension BuiltInRules {
    /// The rules about layers and what crosses between them.
    static let layering = [
        RuleDescription(
            "layers",
            "A layer uses only itself and the layers listed under its `uses`.",
            reason:
                """
                Code changes together with what it uses. If a lower layer uses a higher one, a change of a \
                screen can break what every other screen depends on, and nothing below can be tested or \
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
                It does not see inferred names, nor free functions and global \
                variables of the same module. Tests are not checked.
                """,
            isOnByDefault: true
        ),
        RuleDescription(
            "cycles",
            "Layers do not form a cycle.",
            reason:
                """
                Layers in a cycle are one layer: none of them can be understood, tested or moved \
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
                It checks uses that `layers` allows; the others are already findings. A contract \
                of type `acyclic` checks targets, folders or any other parts.
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
                Business rules outlive the database, the network library and the user \
                interface. A domain that imports none of them survives their replacement, compiles on every \
                platform and can be tested without them.
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
                A module that is not on the list is allowed; add it under `also`. Where SwiftData's \
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
                It goes by names (`transfer-objects`); uses inside functions are \
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
                A transfer object describes what is sent or stored, and coding is its only purpose. One that \
                cannot be coded is something else under a misleading name.
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
            "A transfer object contains no entity of the domain, and is not one.",
            reason:
                """
                An entity inside a transfer object is coded as it is: renaming a property of the entity then \
                changes what is sent and what is read from disk, and old data no longer decodes.
                """,
            violation: "struct NotePageDTO: Codable { let notes: [Note] }   // Note is the entity",
            correction: "struct NotePageDTO: Codable { let notes: [NoteDTO] }",
            help: "Give the transfer object its own fields, and map them.",
            limits: "It needs a layer with the role domain to recognize entities.",
            profile: .dataLayer,
            roles: [.data, .infrastructure]
        ),
        RuleDescription(
            "repository-conformance",
            "A repository of the data layer implements a protocol of the domain.",
            reason:
                """
                The domain declares what it needs in a protocol, and the data layer implements it. Without the \
                protocol, users of the repository depend on how it works, and tests need its database.
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
                It goes by names that end in `Repository` or `RepositoryImpl`. A repository that \
                conforms to a type from outside the project is allowed, unless that is a general \
                one such as `Sendable`.
                """,
            profile: .cleanArchitecture,
            roles: [.data]
        ),
        RuleDescription(
            "transport-errors",
            "Transport errors reach neither the domain nor the presentation.",
            reason:
                """
                A screen that handles `URLError` knows that there is a network, and stops handling the error \
                when the data comes from elsewhere. An error of the domain says what went wrong for the user.
                """,
            violation: "// Presentation\ncatch let error as URLError { … }",
            correction: "// Presentation\ncatch DomainError.offline { … }",
            help: "Map it in the data layer to an error that the domain declares.",
            limits:
                """
                It goes by names; add further ones under `also`. A type of that name that \
                the domain, the presentation or a shared layer declares is allowed, and so are \
                coding errors where coding is implemented.
                """,
            profile: .cleanArchitecture,
            roles: [.domain, .presentation]
        ),
        RuleDescription(
            "vendor-modules",
            "Vendor modules are imported only by adapters.",
            reason:
                """
                Each file that imports a library must change when the library does. Behind a protocol, in \
                one adapter, the library can be replaced, updated, and omitted from tests.
                """,
            violation: "// Presentation/NotesView.swift\nimport FirebaseFirestore",
            correction: "// Infrastructure/FirestoreNotes.swift\nimport FirebaseFirestore",
            help: "Put it behind a protocol, in an adapter of the infrastructure layer.",
            limits:
                """
                The list is built in; `also` adds modules, `allow` removes some. Views may import \
                modules with views or property wrappers: PhotosUI, StoreKit, SwiftData and the \
                like. If no layer has the role infrastructure, data may import all of them. The \
                domain is left to `domain-imports`. With `layers`, the rule checks both.
                """,
            profile: .cleanArchitecture,
            roles: [.presentation, .shared, .data]
        ),
        RuleDescription(
            "vendor-reexport",
            "No vendor module is exported: no `@_exported import`, no `public import`.",
            reason:
                """
                An exported module can be used by everyone who imports yours, without an import in \
                their files. It then cannot be replaced without changing those files.
                """,
            violation: "@_exported import Alamofire",
            correction: "internal import Alamofire",
            help:
                "Import it without `public` and without `@_exported`, and wrap what callers need.",
            limits: "It has the built-in list of `vendor-modules`, but its own `also` and `allow`.",
            profile: .cleanArchitecture,
            roles: []
        ),
    ]
}
