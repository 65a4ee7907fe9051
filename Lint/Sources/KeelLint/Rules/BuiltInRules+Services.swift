extension BuiltInRules {
    /// The rules about services: how they are held, where they come from, what they must not use.
    static let services = [
        RuleDescription(
            "concrete-service",
            "A property holds a service by its protocol.",
            reason:
                """
                Code that holds the concrete type runs its network and its database in every test and \
                preview. Code that holds the protocol can take a double there.
                """,
            violation: "private let users: UserService   // which implements UserServiceProtocol",
            correction: "private let users: any UserServiceProtocol",
            help: "Hold the protocol; make the type where the program is put together.",
            limits:
                """
                It looks at stored properties whose type is written down and conforms to a protocol \
                of the project, if both names end in the same word and that is a service's: \
                Service, Client, Repository, Manager and the like, with or without `Protocol`; \
                `also` adds protocols. It leaves alone: what has an attribute, such as \
                `@StateObject`, static properties, doubles, and whatever puts others together \
                (`…Container`, `…Factory`, the app itself, layers of the role composition).
                """,
            profile: .services
        ),
        RuleDescription(
            "constructed-service",
            "A type is given its services, and does not make them.",
            reason:
                """
                A service that a type makes for itself cannot be replaced, neither by a double in a \
                test nor by another implementation. As a parameter, also with a default value, it can.
                """,
            violation: "init() { users = UserService() }",
            correction:
                "init(users: any UserServiceProtocol = UserService()) { self.users = users }",
            help: "Take it as a parameter of the initializer; a default value is fine.",
            limits:
                """
                It looks at initializers and at the initial values of stored properties, at calls \
                such as `UserService()` and at `UserService.shared`, for types that conform to a \
                protocol as `concrete-service` knows them. Whoever puts the program together may \
                make what it likes.
                """,
            profile: .services
        ),
        RuleDescription(
            "service-ui",
            "A service leaves views, alerts and navigation to the screen.",
            reason:
                """
                A service is called from many places, also where there is no screen: by another \
                service, in the background, in a test. It says what happened; what to show, and where \
                to go, the screen decides.
                """,
            violation: "final class UserService { func signOut(from: UIViewController) { … } }",
            correction: "final class UserService { func signOut() async throws { … } }",
            help: "Return a value or throw an error, and let the caller show it.",
            limits:
                """
                It looks at types called `…Service`, `…Client`, `…Repository` or `…Gateway` and at \
                types of UIKit, AppKit and SwiftUI that show or navigate; values such as `UIImage` \
                pass. It does not look at presentation and composition, nor at what is called through \
                inferred types.
                """,
            profile: .services
        ),
    ]
}
