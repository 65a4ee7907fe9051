extension BuiltInRules {
    /// The rules about layers: who may use whom, and what may cross.
    static let layering = [
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
}
