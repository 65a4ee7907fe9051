/// A key of a dependency, with its default values.
///
/// ```swift
/// enum RestaurantsKey: DependencyKey {
///     static var liveValue: RestaurantRepository { .live }
/// }
///
/// extension DependencyValues {
///     var restaurants: RestaurantRepository {
///         get { self[RestaurantsKey.self] }
///         set { self[RestaurantsKey.self] = newValue }
///     }
/// }
/// ```
///
/// The value that a reader sees depends on the ``DependencyContext`` and on the enclosing calls of
/// `withDependencies(_:operation:)`.
///
/// In a module whose declarations are isolated to the main actor by default, mark the key and the property
/// `nonisolated`, because dependencies are read from any thread.
public protocol DependencyKey: SendableMetatype {
    /// The type of the dependency.
    associatedtype Value: Sendable

    /// The value in a running app.
    ///
    /// The value is created on first access, once per process, even if the property is computed and several tasks read
    /// it at the same time. It is created outside of all overrides. If a live value needs another *overridden* value,
    /// create it together with that override, in the composition root.
    static var liveValue: Value { get }

    /// The value in a test that sets no other.
    ///
    /// Use a computed property: its value is created once per test that uses the trait or `withDependencies`, and
    /// otherwise on each access. A `static let` is shared by all tests of the process.
    ///
    /// A key without this property is *unset* in tests: reading it fails the test with a message that names the key,
    /// the type of its value, the location of the access and the remedies. It then stops the process, which discards
    /// the results of the remaining tests, because there is no value to continue with. To provide one:
    ///
    /// ```swift
    /// static var testValue: RestaurantRepository { unset(standIn: .unavailable) }
    /// ```
    static var testValue: Value { get }

    /// The value in an Xcode preview; by default the live value.
    static var previewValue: Value { get }
}

extension DependencyKey {
    /// Fails the test that read the key, and stops the process.
    public static var testValue: Value {
        let issue = DependencyIssue(unset: Self.self)
        DependencyValues.current.issueReporter.report(issue)
        // The caller needs a value of any type, and cannot throw.
        fatalError(
            """
            \(issue.message)
            There is no value to continue with, so the process stops here. To fail this test and run \
            the others, add `static var testValue: Value { unset(standIn: …) }` to the key.
            """
        )
    }

    /// The live value of the process.
    public static var previewValue: Value {
        ValueCache.live.value(of: Self.self) { Self.liveValue }
    }

    /// Fails the test that read the key, and lets it continue with a harmless value.
    ///
    /// Use this method in ``DependencyKey/testValue``. The failure is recorded once in a test that uses the trait or
    /// `withDependencies`, and otherwise on each access.
    ///
    /// - Parameter standIn: A value that affects nothing outside of the test.
    /// - Returns: The stand-in.
    public static func unset(standIn: @autoclosure () -> Value) -> Value {
        DependencyValues.current.issueReporter.report(DependencyIssue(unset: Self.self))
        return standIn()
    }
}
