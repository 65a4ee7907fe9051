/// A rule about where things stand and what they are called.
package struct NamingRule: Sendable {
    /// The names of the types that it is about; empty for a rule about files.
    package var types: [Glob] = []
    /// The files that it is about, for a rule about files.
    package var files: [Glob] = []
    package var kinds: Set<DeclarationFact.Kind> = []
    /// The roles of the layers that it looks at; empty for all.
    package var roles: Set<LayerRole> = []
    /// What the types must be called.
    package var named: [Glob] = []
    /// What the file must be called, without its folder; `{name}` stands for the type's name.
    package var fileNamed: [String] = []
    /// Where the file must lie.
    package var placedIn: [Glob] = []
    /// The roles of layers that the file must belong to.
    package var placedInRoles: Set<LayerRole> = []
    package var because = ""
    package var line = 1
}

/// A set of rules that a project switches on by its name.
public enum LintProfile: String, Sendable, CaseIterable {
    /// The domain stays free of frameworks, and frameworks stay in adapters.
    case cleanArchitecture = "clean-architecture"
    /// Data that is fetched or stored is mapped, and failures are reported.
    case dataLayer = "data-layer"
    /// Services are held by their protocols, passed in, and leave the screen alone.
    case services
    /// Names and places of endpoints, network DTOs, clients and errors.
    case infrastructureNaming = "infrastructure-naming"
    /// Names and places of repositories, data sources and DTOs.
    case dataLayerNaming = "data-layer-naming"

    /// Describes the rules of the profile in one sentence.
    public var summary: String {
        switch self {
        case .cleanArchitecture:
            "The domain stays free of frameworks, and frameworks stay in adapters."
        case .dataLayer:
            "Data that is fetched or stored is mapped, and failures are reported."
        case .services:
            "Services are held by their protocols, passed in, and leave the screen alone."
        case .infrastructureNaming:
            "Endpoints, network DTOs, clients and errors are called and placed alike."
        case .dataLayerNaming:
            "Repositories, data sources and DTOs are called and placed alike."
        }
    }

    /// The names of transfer objects beside `*DTO`.
    var transferObjects: [Glob] { self == .infrastructureNaming ? [Glob("Net[A-Z]*")] : [] }

    /// The names and places that the profile demands.
    var naming: [NamingRule] {
        switch self {
        case .cleanArchitecture, .dataLayer, .services: []
        case .infrastructureNaming: Self.infrastructureRules
        case .dataLayerNaming: Self.dataLayerRules
        }
    }

    private static let values: Set<DeclarationFact.Kind> = [.struct, .class, .enum, .actor]

    private static let infrastructureRules = [
        NamingRule(
            types: [Glob("*Endpoint")],
            kinds: values,
            fileNamed: ["*Endpoint.swift"],
            placedInRoles: [.infrastructure],
            because: "an endpoint stands in <Service>Endpoint.swift of the infrastructure"
        ),
        NamingRule(
            types: [Glob("Net[A-Z]*")],
            kinds: values,
            fileNamed: ["Net[A-Z]*.swift"],
            placedInRoles: [.infrastructure],
            because:
                """
                a network DTO stands in Net<Entity>.swift or Net<Entity>+<Action>.swift of \
                the infrastructure
                """
        ),
        NamingRule(
            types: [Glob("*HTTPClient"), Glob("*Networking")],
            fileNamed: ["*HTTPClient.swift", "*Networking.swift"],
            placedInRoles: [.infrastructure],
            because:
                """
                a client stands in <Service>HTTPClient.swift or <Service>Networking.swift of \
                the infrastructure
                """
        ),
        NamingRule(
            types: [Glob("*Error")],
            kinds: values,
            roles: [.infrastructure],
            fileNamed: ["*Error.swift"],
            because: "an error of the infrastructure stands in <Technology>Error.swift"
        ),
        NamingRule(
            files: [Glob("**/Endpoints/*.swift")],
            roles: [.infrastructure],
            fileNamed: ["*Endpoint.swift", "*Endpoint+*.swift"],
            because: "the folder Endpoints holds endpoints"
        ),
    ]

    private static let dataLayerRules = [
        NamingRule(
            types: [Glob("*Repository")],
            kinds: [.struct, .class, .actor],
            roles: [.data],
            named: [Glob("*RepositoryImpl")],
            because: "the implementation of a repository is called <Entity>RepositoryImpl"
        ),
        NamingRule(
            types: [Glob("*RepositoryImpl")],
            kinds: values,
            fileNamed: ["{name}.swift"],
            placedIn: [Glob("**/Repositories/**")],
            placedInRoles: [.data],
            because: "repositories stand in Data/Repositories, one in each file"
        ),
        NamingRule(
            types: [Glob("*RemoteDataSource")],
            kinds: values,
            fileNamed: ["{name}.swift"],
            placedIn: [Glob("**/DataSources/Remote/**")],
            placedInRoles: [.data],
            because: "what calls the API stands in Data/DataSources/Remote"
        ),
        NamingRule(
            types: [Glob("*LocalDataSource")],
            kinds: values,
            fileNamed: ["{name}.swift"],
            placedIn: [Glob("**/DataSources/Local/**")],
            placedInRoles: [.data],
            because: "what keeps data here stands in Data/DataSources/Local"
        ),
        NamingRule(
            types: [Glob("*DTO")],
            kinds: values,
            fileNamed: ["*DTO.swift"],
            placedIn: [Glob("**/Models/**")],
            placedInRoles: [.data],
            because: "DTOs stand in Data/Models"
        ),
    ]
}
