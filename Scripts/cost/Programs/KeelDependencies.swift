import KeelDependencies

enum Greeting: DependencyKey {
    static let liveValue = "Hello"
    static let testValue = "Test"
}

extension DependencyValues {
    var greeting: String {
        get { self[Greeting.self] }
        set { self[Greeting.self] = newValue }
    }
}

struct Program {
    @Dependency(\.greeting) var greeting: String
}

print(Program().greeting)
