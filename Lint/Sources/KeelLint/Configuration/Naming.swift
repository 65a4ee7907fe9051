/// A rule about the names and places of either types or files.
package struct NamingRule: Sendable {
    /// The types it applies to; empty for a rule about files.
    package var types: [Glob] = []
    package var files: [Glob] = []
    package var kinds: Set<DeclarationFact.Kind> = []
    /// The roles of the layers it applies to; empty for all files.
    package var roles: Set<LayerRole> = []
    /// The names that a type may have.
    package var named: [Glob] = []
    /// The names that a file may have; `{name}` stands for the type's.
    package var fileNamed: [String] = []
    /// The places where a file may be.
    package var placedIn: [Glob] = []
    /// The roles that a file's layer may have; those that no layer has are ignored.
    package var placedInRoles: Set<LayerRole> = []
    package var because = ""
    package var line = 1
}

/// A set of rules that a project enables by name.
public enum LintProfile: String, Sendable, CaseIterable {
    /// The domain is free of frameworks, which stay in adapters.
    case cleanArchitecture = "clean-architecture"
    /// Fetched or stored data is mapped, and failures are reported.
    case dataLayer = "data-layer"
    /// Services are held by their protocols, injected, and free of UI.
    case services
    /// Names and places of endpoints, network DTOs, clients and errors.
    case infrastructureNaming = "infrastructure-naming"
    /// Names and places of repositories, data sources and DTOs.
    case dataLayerNaming = "data-layer-naming"

    /// The requirements of the profile, in one sentence.
    public var summary: String {
        switch self {
        case .cleanArchitecture:
            "The domain stays free of frameworks, and frameworks stay in adapters."
        case .dataLayer:
            "Data that is fetched or stored is mapped, and failures are reported."
        case .services:
            "Services are held by their protocols, injected, and do not touch the screen."
        case .infrastructureNaming:
            "Endpoints, network DTOs, clients and errors are named and placed consistently."
        case .dataLayerNaming:
            "Repositories, data sources and DTOs are named and placed consistently."
        }
    }

    /// Transfer objects in addition to those of the key `transfer-objects`, by default `*DTO`.
    var transferObjects: [Glob] { self == .infrastructureNaming ? [Glob("Net[A-Z]*")] : [] }

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
            because: "an endpoint belongs in <Service>Endpoint.swift of the infrastructure"
        ),
        NamingRule(
            types: [Glob("Net[A-Z]*")],
            kinds: values,
            fileNamed: ["Net[A-Z]*.swift"],
            placedInRoles: [.infrastructure],
            because:
                """
                a network DTO belongs in Net<Entity>.swift or Net<Entity>+<Action>.swift of \
                the infrastructure
                """
        ),
        NamingRule(
            types: [Glob("*HTTPClient"), Glob("*Networking")],
            fileNamed: ["*HTTPClient.swift", "*Networking.swift"],
            placedInRoles: [.infrastructure],
            because:
                """
                a client belongs in <Service>HTTPClient.swift or <Service>Networking.swift of \
                the infrastructure
                """
        ),
        NamingRule(
            types: [Glob("*Error")],
            kinds: values,
            roles: [.infrastructure],
            fileNamed: ["*Error.swift"],
            because: "an error of the infrastructure belongs in <Technology>Error.swift"
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
            because: "repositories belong in Data/Repositories, one per file"
        ),
        NamingRule(
            types: [Glob("*RemoteDataSource")],
            kinds: values,
            fileNamed: ["{name}.swift"],
            placedIn: [Glob("**/DataSources/Remote/**")],
            placedInRoles: [.data],
            because: "code that calls the API belongs in Data/DataSources/Remote"
        ),
        NamingRule(
            types: [Glob("*LocalDataSource")],
            kinds: values,
            fileNamed: ["{name}.swift"],
            placedIn: [Glob("**/DataSources/Local/**")],
            placedInRoles: [.data],
            because: "code that stores data locally belongs in Data/DataSources/Local"
        ),
        NamingRule(
            types: [Glob("*DTO")],
            kinds: values,
            fileNamed: ["*DTO.swift"],
            placedIn: [Glob("**/Models/**")],
            placedInRoles: [.data],
            because: "DTOs belong in Data/Models"
        ),
    ]
}
