/// Reads a dependency where it is used.
///
/// ```swift
/// struct FavouriteRestaurant {
///     @Dependency(\.restaurants) private var restaurants
///
///     func callAsFunction(_ id: Restaurant.ID) async throws { try await restaurants.favour(id) }
/// }
/// ```
///
/// The value is looked up at every reading: an override around the call is seen. What was set
/// around the *making* of the object stays with it, so it can be handed to code that inherits
/// nothing, a callback or a detached task. When both set the same key, the innermost setting wins.
///
/// An `@Observable` class writes `@ObservationIgnored` in front. An object that outlives a test,
/// such as one in a `static let`, brings the values of the test that made it into the next.
@propertyWrapper
public struct Dependency<Value: Sendable>: Sendable {
    private let valuesOfReader: DependencyValues
    private let location: DependencyLocation
    private let read: @Sendable (DependencyValues) -> Value

    /// Reads a property of ``DependencyValues``.
    public init(
        _ property: any KeyPath<DependencyValues, Value> & Sendable,
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column
    ) {
        self.init(
            at: DependencyLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        ) { $0[keyPath: property] }
    }

    /// Reads the value of a key that has no property.
    public init<Key: DependencyKey>(
        _ key: Key.Type,
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column
    ) where Key.Value == Value {
        self.init(
            at: DependencyLocation(fileID: fileID, filePath: filePath, line: line, column: column)
        ) { $0[key] }
    }

    private init(
        at location: DependencyLocation,
        read: @escaping @Sendable (DependencyValues) -> Value
    ) {
        valuesOfReader = .current
        self.location = location
        self.read = read
    }

    /// The value, as the running code sees it.
    public var wrappedValue: Value {
        read(DependencyValues.current.seen(by: valuesOfReader, at: location))
    }
}
