/// A file of a new app, with places for its names.
///
/// `__App__`, `__program__` and `__VARIABLE__` are the forms of ``AppName``, `__keel__` is the
/// dependency. Scripts/checks/new-app.sh builds and tests what comes of them.
struct AppTemplate: Sendable {
    /// The path in the app's folder.
    let path: String
    let text: String

    init(_ path: String, _ text: String) {
        self.path = path
        self.text = text
    }

    /// Every file of an app.
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
