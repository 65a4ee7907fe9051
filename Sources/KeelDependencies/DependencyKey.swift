/// A name for one thing that an app's code needs from outside, with its values.
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
/// Which value a reader sees depends on the ``DependencyContext`` and on what
/// `withDependencies(_:operation:)` has set around it.
///
/// In a module whose declarations belong to the main actor by default, mark the key and the
/// property `nonisolated`: a dependency is read from any thread.
public protocol DependencyKey: SendableMetatype {
    /// What the key stands for.
    associatedtype Value: Sendable

    /// The value of the running app.
    ///
    /// Made when it is first read and once in a process, also when it is a computed property and
    /// also when several tasks read it at once. It is made outside every override, so that a
    /// test's values never end up in it; a live value that needs another *overridden* value is
    /// built where that override is made, in the composition root.
    static var liveValue: Value { get }

    /// The value of a test that set no other.
    ///
    /// Write a computed property: it is then made once in each test, and tests that run at the
    /// same time share nothing. A `static let` is one value for all tests of the process.
    ///
    /// A key without this property is *unset* in tests: reading it fails the test. The failure
    /// names the key, its value's type, the place that read it and how to set it. After that the
    /// reader needs a value, and there is none that Keel could invent: the live one would touch
    /// real systems from a test. So the default stops the process, which costs the other tests
    /// of the run their results. A key that many tests meet says what to go on with instead:
    ///
    /// ```swift
    /// static var testValue: RestaurantRepository { unset(standIn: .unavailable) }
    /// ```
    static var testValue: Value { get }

    /// The value of an Xcode preview; the live value, unless the key says otherwise.
    static var previewValue: Value { get }
}

extension DependencyKey {
    /// Fails the test that read the key, and stops the process: there is no value to go on with.
    public static var testValue: Value {
        let issue = DependencyIssue(unset: Self.self)
        DependencyValues.current.issueReporter.report(issue)
        fatalError(
            """
            \(issue.message)
            There is no value to go on with, so the process stops here. To fail this test and run \
            the others, add `static var testValue: Value { unset(standIn: …) }` to the key.
            """
        )
    }

    /// The one live value of the process.
    public static var previewValue: Value {
        ValueCache.live.value(of: Self.self) { Self.liveValue }
    }

    /// Fails the test that read the key, and lets it go on with a harmless value.
    ///
    /// For use as a ``DependencyKey/testValue``. The failure is recorded once in a test that uses
    /// the trait or `withDependencies`, otherwise at each reading.
    ///
    /// - Parameter standIn: a value that touches nothing outside the test, best one whose every
    ///   operation throws.
    /// - Returns: the stand-in.
    public static func unset(standIn: @autoclosure () -> Value) -> Value {
        DependencyValues.current.issueReporter.report(DependencyIssue(unset: Self.self))
        return standIn()
    }
}
