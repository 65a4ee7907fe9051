package enum KnownModules {
    /// Modules that belong in adapters.
    ///
    /// A capital after a family's prefix excludes other modules that begin with it.
    package static let vendors: [Glob] = [
        // Networking and databases
        "Alamofire", "AFNetworking", "Moya", "Apollo", "ApolloAPI", "ApolloSQLite",
        "ApolloWebSocket", "GRPC", "GRPC[A-Z]*", "AsyncHTTPClient", "NIO", "NIO[A-Z]*",
        "Starscream", "SocketIO", "GRDB", "GRDBQuery", "GRDBSQLCipher", "SQLite", "SQLite3",
        "CSQLite", "RealmSwift", "Realm", "CoreData", "SwiftData", "CloudKit", "PostgresNIO",
        "PostgresClientKit", "MongoSwift", "RediStack", "Fluent", "FluentKit", "FluentSQL",
        "Fluent*Driver", "CouchbaseLite*",
        // Back ends and telemetry
        "Firebase", "Firebase[A-Z]*", "Supabase", "SupabaseStorage", "Amplify", "AWS[A-Z]*",
        "Parse", "ParseCore", "ParseSwift", "ParseLiveQuery", "Appwrite", "Sentry",
        "SentrySwiftUI", "Crashlytics", "Amplitude", "AmplitudeSwift", "Mixpanel", "PostHog",
        "Segment", "Bugsnag", "BugsnagPerformance", "Datadog", "Datadog[A-Z]*", "NewRelic",
        "RevenueCat", "RevenueCatUI", "StoreKit", "OneSignal", "OneSignal[A-Z]*", "Branch",
        "BranchSDK", "Adjust", "AdjustSdk", "AppsFlyerLib", "FBSDK[A-Z]*", "FacebookCore",
        "FacebookLogin", "FacebookShare", "GoogleSignIn", "GoogleSignInSwift", "GoogleMaps",
        "GooglePlaces", "Stripe", "StripeCore", "StripePayments", "StripePaymentSheet",
        "StripePaymentsUI", "StripeApplePay",
        // Images
        "Kingfisher", "SDWebImage", "SDWebImageSwiftUI", "Nuke", "NukeUI", "NukeExtensions",
        // Devices and secrets
        "CoreLocation", "CoreBluetooth", "LocalAuthentication", "UserNotifications", "HealthKit",
        "EventKit", "Contacts", "Photos", "PhotosUI", "Security", "KeychainAccess",
        "KeychainSwift", "Valet", "Crypto", "CryptoKit", "CryptoSwift", "_CryptoExtras",
    ].map { Glob($0) }

    /// Vendor modules that views may import, for views, property wrappers or values.
    package static let interfaces: [Glob] = [
        "*UI", "StoreKit", "SwiftData", "CoreData", "CoreLocation", "Kingfisher", "SDWebImage",
        "Nuke", "NukeExtensions", "GoogleMaps", "GoogleSignInSwift", "StripePaymentSheet",
    ].map { Glob($0) }

    /// Modules that the domain must not import, including vendors'.
    package static let infrastructure: [Glob] =
        [
            "Keel", "Keel[A-Z]*", "FoundationNetworking", "Network", "CFNetwork", "SwiftUI",
            "UIKit", "AppKit", "WatchKit", "Vapor", "Hummingbird", "Hummingbird[A-Z]*",
        ].map { Glob($0) } + vendors

    /// Errors of the network, of stores and of coding.
    package static let transportErrors: [Glob] = [
        "TransportError", "NetworkError", "HTTPError", "URLError", "AFError", "MoyaError",
        "HTTPClientError", "NetworkClientError", "DataSourceError", "RepositoryError",
        "StorageError", "CacheError", "SyncError", "DatabaseError", "SecretStoreError",
        "DecodingError", "EncodingError",
    ].map { Glob($0) }

    package static let doubles: [Glob] = [
        "Mock*", "Fake*", "Stub*", "Spy*", "Dummy*", "InMemory*", "Scripted*", "Recorded*",
        "Recording*", "Preview*", "Test*", "Unimplemented*", "Noop*", "*Mock", "*Fake", "*Stub",
        "*Spy", "*Double", "FaultInjecting*", "Failing*", "No[A-Z]*", "Null*", "Empty*",
    ].map { Glob($0) }

    package static let ports: [Glob] = protocols([
        "Repository", "DataSource", "Client", "Service", "Gateway", "Port", "Storage",
        "Networking",
    ])

    package static let services: [Glob] = protocols([
        "Service", "Client", "Repository", "Gateway", "DataSource", "Manager", "Cache", "Logger",
        "Tracker", "Loader", "Fetcher", "Networking", "API", "Storage",
    ])

    private static func protocols(_ names: [String]) -> [Glob] {
        names.flatMap { name in ["", "Protocol", "Type", "Interface"].map { Glob("*\(name)\($0)") }
        }
    }

    package static let serviceTypes: [Glob] = ["Service", "Client", "Repository", "Gateway"]
        .flatMap { name in ["", "Impl", "Protocol", "Live"].map { Glob("*\(name)\($0)") } }

    /// Types that may hold and make any type.
    package static let composers: [Glob] = [
        "*Container", "*Assembly", "*Assembler", "*Factory", "*Composition", "*CompositionRoot",
        "*Composer", "*Dependencies", "*Environment", "*Injector", "*Builder", "*Configurator",
        "*Module", "*Registry", "*Resolver", "*App", "*AppDelegate", "*SceneDelegate",
        "*_Previews", "Preview*", "DI", "*DI",
    ].map { Glob($0) }

    package static let screens: [Glob] = [
        "UIViewController", "UINavigationController", "UITabBarController", "UIAlertController",
        "UIAlertAction", "UIHostingController", "UIStoryboard", "UIStoryboardSegue", "UIView",
        "UILabel", "UIWindow", "NSViewController", "NSWindow", "NSWindowController", "NSAlert",
        "NSView", "NavigationPath", "NavigationStack", "NavigationLink", "AnyView", "AlertState",
        "UIApplication.shared.open", "UIApplication.shared.windows",
        "UIApplication.shared.keyWindow", "UIApplication.shared.connectedScenes",
    ].map { Glob($0) }

    /// The project's own types that belong to the screen.
    package static let screenTypes: [Glob] = ["*ViewController", "*ViewModel", "*Presenter"]
        .map { Glob($0) }

    package static let stores: Set<String> = [
        "store", "storage", "cache", "database", "db", "context", "realm", "defaults", "keychain",
        "disk",
    ]
}
