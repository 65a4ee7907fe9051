public import KeelDependencies
public import RestaurantsDomain

/// The dependency key of what the screens can do.
///
/// An app sets it in its composition root. Until then each use case fails and says so; a preview has
/// restaurants of its own.
public enum RestaurantsDependency: DependencyKey, Sendable {
    public static var liveValue: UseCases {
        SampleRepositories(failure: DomainError(.storageFailed)).useCases
    }

    public static var testValue: UseCases { unset(standIn: liveValue) }

    public static var previewValue: UseCases { SampleRepositories.preview.useCases }
}

extension DependencyValues {
    /// The use cases of the screens.
    public var restaurants: UseCases {
        get { self[RestaurantsDependency.self] }
        set { self[RestaurantsDependency.self] = newValue }
    }
}
