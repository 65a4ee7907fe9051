/// A file of a new app, with placeholders for its names.
///
/// `__App__`, `__program__` and `__VARIABLE__` stand for the forms of ``AppName``, `__keel__` for the dependency, and
/// `__package__` for its name.
struct AppTemplate: Sendable {
    /// The path in the app's folder.
    let path: String
    let text: String

    init(_ path: String, _ text: String) {
        self.path = path
        self.text = text
    }

    static func all(for interface: NewApp.Interface) -> [AppTemplate] {
        let layers = DomainTemplates.all + DataTemplates.all
        return switch interface {
        case .terminal:
            layers + RootTemplates.all + PresentationTemplates.all + ApplicationTemplates.all
                + TestTemplates.all
        case .swiftUI:
            layers + SwiftUIRootTemplates.all + SwiftUITemplates.all + TestTemplates.ofLayers
        }
    }
}
