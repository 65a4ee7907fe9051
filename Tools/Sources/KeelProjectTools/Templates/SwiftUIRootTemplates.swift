/// The files of a new SwiftUI app outside of its sources.
enum SwiftUIRootTemplates {
    static let all: [AppTemplate] = [
        RootTemplates.ignoredFiles,
        package,
        readme,
        lint,
    ]

    private static let package = AppTemplate(
        "Package.swift",
        #"""
        \#(RootTemplates.manifestHead)

        // Each layer is a module, so that the compiler keeps the direction of dependencies:
        // Views → UI → Domain ← Data → Keel. Only the composition root sees all of them.
        let package = Package(
            name: "__App__",
            platforms: [.macOS(.v15), .iOS(.v18)],
            products: [
                .executable(name: "__program__", targets: ["__App__"]),
                // For the target of an iOS app in Xcode.
                .library(
                    name: "__App__Screens",
                    targets: ["__App__Composition", "__App__UI", "__App__Views"]
                ),
            ],
            dependencies: [__keel__],
            targets: [
                .target(name: "__App__Domain"),
                .target(name: "__App__UI", dependencies: ["__App__Domain"]),
                .target(name: "__App__Views", dependencies: ["__App__Domain", "__App__UI"]),
                .target(name: "__App__Data", dependencies: ["__App__Domain", keel("KeelStorage")]),
                .target(
                    name: "__App__Composition",
                    dependencies: ["__App__Data", "__App__Domain", "__App__UI", keel("Keel")]
                ),
                .executableTarget(
                    name: "__App__",
                    dependencies: ["__App__Composition", "__App__UI", "__App__Views"]
                ),
                .testTarget(
                    name: "__App__Tests",
                    dependencies: [
                        "__App__Domain", "__App__UI", "__App__Data", keel("KeelStorage"),
                        keel("KeelTestKit"),
                    ]
                ),
            ]
        )

        for target in package.targets { target.swiftSettings = strict }

        """#
    )

    private static let readme = AppTemplate(
        "README.md",
        #"""
        # __App__

        An app on Keel for iOS and macOS, with the layers

        ```
        Views → UI → Domain ← Data → Keel
        ```

        ```sh
        swift test                  # every layer, and all of them together; on Linux too
        swift run __program__       # the app, on macOS
        ```

        | target | contents | imports |
        |---|---|---|
        | `__App__Domain` | entities, use cases, protocols of repositories, `DomainError` | nothing |
        | `__App__UI` | observable models of the screens, tested without a screen | the domain |
        | `__App__Views` | SwiftUI views | the models and the domain |
        | `__App__Data` | repositories, DTOs, the mapping of errors | the domain and Keel |
        | `__App__Composition` | the composition root, which puts them together | all |
        | `__App__` | the app on macOS | the composition, the models and the views |

        For iOS, create an app target in Xcode, add the product `__App__Screens` of this package, and copy the lines of
        `Sources/__App__/__App__App.swift` to the target.

        The backend is one line in `Composition.swift`: an SQLite file in the app's own folder, and with `__VARIABLE___SERVER` a server.

        `keel-lint.yml` says what the layers may import; `keel lint` checks it.

        """#
    )

    private static let lint = AppTemplate(
        "keel-lint.yml",
        #"""
        # The layers of the app: Views → UI → Domain ← Data → Keel. `keel lint` checks them; the reason of a
        # rule: keel lint --explain RULE.
        \#(RootTemplates.lowerLayers)
          - name: UI
            targets: [__App__UI]
            uses: [Domain]
            modules: [Foundation, Observation]
          - name: Views
            targets: [__App__Views]
            uses: [Domain, UI]
            modules: [Foundation, SwiftUI]
          - name: App
            targets: [__App__, __App__Composition]
            uses: any

        \#(RootTemplates.contracts)

        """#
    )
}
