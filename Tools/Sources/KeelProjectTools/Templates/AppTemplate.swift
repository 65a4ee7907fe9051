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
    static let all =
        RootTemplates.all + DomainTemplates.all + DataTemplates.all + PresentationTemplates.all
        + ApplicationTemplates.all + TestTemplates.all
}
