public import KeelDependencies
public import KeelLocation

/// The dependency key of the device's position.
///
/// The live value is the platform's source: Core Location on Apple platforms, the local gpsd
/// elsewhere. It does not monitor or ask the user by itself. In previews it stays in place; tests
/// set a track:
///
/// ```swift
/// let location = LocationService(ScriptedLocationAdapter(.fixes([harbour, island])))
/// try await withDependencies { $0.location = location } operation: { try await run() }
/// ```
public enum LocationDependency: DependencyKey, Sendable {
    public static var liveValue: LocationService { .platformDefault() }

    public static var testValue: LocationService {
        // Not a transient error, which a call would wait for.
        let error = LocationError(
            .unsupported,
            "the test sets no location: use withDependencies { $0.location = … } or the trait"
        )
        return unset(standIn: LocationService(unavailable: error))
    }

    public static var previewValue: LocationService {
        LocationService(ScriptedLocationAdapter(.preview))
    }
}

extension DependencyValues {
    /// The device's position.
    public var location: LocationService {
        get { self[LocationDependency.self] }
        set { self[LocationDependency.self] = newValue }
    }
}
