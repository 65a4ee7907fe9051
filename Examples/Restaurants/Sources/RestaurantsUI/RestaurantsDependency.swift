public import KeelDependencies
public import RestaurantsDomain

/// The dependency key of the screens' use cases.
///
/// An app sets them in its composition root. Until then each use case fails with an explanation; previews have samples.
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
