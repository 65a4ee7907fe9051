extension BuiltInRules {
    /// The rules about services.
    static let services = [
        RuleDescription(
            "concrete-service",
            "A property holds a service by its protocol.",
            reason:
                """
                Code that holds the concrete type runs its network and its database in every test and \
                preview. Code that holds the protocol can use a test double.
                """,
            violation: "private let users: UserService   // which implements UserServiceProtocol",
            correction: "private let users: any UserServiceProtocol",
            help: "Hold the protocol; create the type in the composition root.",
            limits:
                """
                It checks stored properties with an explicit type that conforms to a protocol \
                of the project, if both names end in the same word and it is one for services: \
                Service, Client, Repository, Manager and the like, with or without `Protocol`, \
                `Impl` or `Live`; `also` adds protocols. Exempt are properties with an attribute, \
                such as `@StateObject`, static properties, observable objects, doubles, and types \
                that compose others (`…Container`, `…Factory`, the app itself, layers of the role \
                composition).
                """,
            profile: .services
        ),
        RuleDescription(
            "constructed-service",
            "A type receives its services, and does not create them.",
            reason:
                """
                A service that a type creates itself cannot be replaced, neither by a double in a \
                test nor by another implementation. A parameter can, even with a default value.
                """,
            violation: "init() { users = UserService() }",
            correction:
                "init(users: any UserServiceProtocol = UserService()) { self.users = users }",
            help: "Take it as a parameter of the initializer; a default value is fine.",
            limits:
                """
                It checks initializers and initial values of stored properties for calls \
                such as `UserService()` and for `UserService.shared`, for types that conform to a \
                protocol as in `concrete-service`. The composition root may \
                create anything.
                """,
            profile: .services
        ),
        RuleDescription(
            "service-ui",
            "A service leaves views, alerts and navigation to the screen.",
            reason:
                """
                A service is called from many places, even without a screen: by another \
                service, in the background, in a test. It reports what happened; the screen decides what to \
                show, and where to go.
                """,
            violation: "final class UserService { func signOut(from: UIViewController) { … } }",
            correction: "final class UserService { func signOut() async throws { … } }",
            help: "Return a value or throw an error, and let the caller show it.",
            limits:
                """
                It checks types named `…Service`, `…Client`, `…Repository` or `…Gateway` for \
                types of UIKit, AppKit and SwiftUI that show or navigate; values such as `UIImage` \
                are allowed. It does not check presentation and composition, nor calls through \
                inferred types.
                """,
            profile: .services
        ),
    ]
}
