#if canImport(SwiftData)
internal import Foundation
internal import KeelStorage
public import SwiftData

/// A plain value for a SwiftData model, which must not leave its actor.
///
/// ```swift
/// extension Note: ModelRepresentable {
///     static var idPath: any KeyPath<NoteModel, String> & Sendable { \.id }
///     static var properties: [ModelProperty<Note>] {
///         [ModelProperty(\.stars, \.stars), ModelProperty(\.city, \.town)]
///     }
///     init(_ model: NoteModel) { self.init(id: model.id, stars: model.stars, city: model.town) }
///     var modelID: String { id }
///     func makeModel() -> NoteModel { NoteModel(id: id, stars: stars, town: city) }
///     func update(_ model: NoteModel) {
///         model.stars = stars
///         model.town = city
///     }
/// }
/// ```
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public protocol ModelRepresentable: Sendable {
    /// The model type.
    associatedtype Model: PersistentModel

    /// Creates a value from a model.
    init(_ model: Model)

    /// The id of the model.
    var modelID: String { get }

    /// Makes a model with this id, outside of any context.
    func makeModel() -> Model

    /// Writes the value to a model, whose id stays.
    func update(_ model: Model)

    /// The model property for the id, a stored attribute.
    static var idPath: any KeyPath<Model, String> & Sendable { get }

    /// The properties that the database can evaluate; by default none.
    ///
    /// Conditions on others are evaluated in memory, on the results of the rest of the predicate.
    static var properties: [ModelProperty<Self>] { get }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension ModelRepresentable {
    public static var properties: [ModelProperty<Self>] { [] }

    /// The predicate for models with one of these ids.
    static func modelPredicate(ids: [String]) -> Predicate<Model> {
        Predicate<Model> { model in
            PredicateExpressions.SequenceContains(
                sequence: PredicateExpressions.Value(ids),
                element: PredicateExpressions.KeyPath(root: model, keyPath: idPath)
            )
        }
    }

    /// The predicate for the database; nil for all models.
    static func modelPredicate(for predicate: Predicate<Self>) -> Predicate<Model>? {
        guard let filter = try? DocumentFilter(predicate) else { return nil }
        let properties = properties
        guard condition(filter, properties, on: .init()) != nil else { return nil }
        return Predicate<Model> { model in
            condition(filter, properties, on: model) ?? PredicateExpressions.Value(true)
        }
    }

    private static func condition(
        _ filter: DocumentFilter,
        _ properties: [ModelProperty<Self>],
        on model: PredicateExpressions.Variable<Model>
    ) -> ModelProperty<Self>.Condition? {
        filter.condition(
            all: { ModelProperty<Self>.joined($0) { ModelProperty<Self>.both($0, $1) } },
            any: { ModelProperty<Self>.joined($0) { ModelProperty<Self>.either($0, $1) } },
            comparison: { field, comparison, value in
                properties.first { $0.field == field }?.condition(comparison, value, model)
            }
        )
    }
}
#endif
