/// A property wrapper that reads a dependency.
///
/// ```swift
/// struct FavouriteRestaurant {
///     @Dependency(\.restaurants) private var restaurants
///
///     func callAsFunction(_ id: Restaurant.ID) async throws { try await restaurants.favour(id) }
/// }
/// ```
///
/// Each access looks up the value, so an override around the call takes effect. Overrides around the *creation* of the
/// object stay with the object, even in code that inherits no task-local values. If both set the same key, the
/// innermost override wins.
///
/// In an `@Observable` class, add `@ObservationIgnored`. An object that outlives a test carries the values of that test
/// into the next one.
@propertyWrapper
public struct Dependency<Value: Sendable>: Sendable {
    private let valuesOfReader: DependencyValues
    private let location: DependencyLocation
    private let read: @Sendable (DependencyValues) -> Value

    /// Creates a wrapper for a property of ``DependencyValues``.
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

    /// Creates a wrapper for a key without a property.
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

    /// The current value of the dependency.
    public var wrappedValue: Value {
        read(DependencyValues.current.seen(by: valuesOfReader, at: location))
    }
}
