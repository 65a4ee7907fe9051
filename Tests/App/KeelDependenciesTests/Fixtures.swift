import KeelDependencies

/// A dependency of an app, small enough to compare.
struct Greeter: Hashable { var name: String }

/// A key with a value for each context.
enum GreeterKey: DependencyKey {
    static var liveValue: Greeter { Greeter(name: "live") }
    static var testValue: Greeter { Greeter(name: "test") }
    static var previewValue: Greeter { Greeter(name: "preview") }
}

/// A key that no test sets, with a stand-in to continue with.
enum UnsetKey: DependencyKey {
    static var liveValue: Greeter { Greeter(name: "live") }
    static var testValue: Greeter { unset(standIn: Greeter(name: "stand-in")) }
}

/// A key that no test sets, without a value to continue with.
enum BareKey: DependencyKey { static var liveValue: Greeter { Greeter(name: "live") } }

extension DependencyValues {
    var greeter: Greeter {
        get { self[GreeterKey.self] }
        set { self[GreeterKey.self] = newValue }
    }
}

/// A model like those of an app.
struct Welcome {
    @Dependency(\.greeter) private var greeter

    var name: String { greeter.name }
}
