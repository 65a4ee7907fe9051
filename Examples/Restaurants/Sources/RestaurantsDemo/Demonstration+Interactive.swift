import Foundation

extension Demonstration {
    /// Restarts the service and leaves the rest to the reader, until Ctrl-C.
    func stayOpen() async {
        do {
            Terminal.show("\n\(Terminal.bold("Your turn"))")
            try await startService()
            let program = try setting.program("restaurants").path(percentEncoded: false)
            Terminal.show(
                """

                  In a first terminal:

                    export RESTAURANTS_STORAGE=\(setting.store)
                    export RESTAURANTS_API=\(address) RESTAURANTS_USER=ada
                    export RESTAURANTS_SECRETS=\(setting.folder.path(percentEncoded: false))/secrets
                    alias restaurants=\(program)
                    restaurants watch

                  In a second one, after the same four lines:

                    restaurants list --limit 10
                    restaurants search "caf*"
                    restaurants near --at \(setting.place)
                    restaurants favourite \(setting.restaurants[1].id)
                    restaurants rate \(setting.restaurants[1].id) 4
                    restaurants favourites
                    RESTAURANTS_PASSWORD=engine restaurants login ada@example.com
                    restaurants whoami --log
                    restaurants pending
                    restaurants --help

                  Ctrl-C ends the service and removes the store.
                """
            )
            // Practically forever; Ctrl-C cancels it.
            try await Task.sleep(for: .seconds(7 * 86_400))
        } catch is CancellationError {
            Terminal.show("\nEnded.")
        } catch {
            Terminal.show("  \(Terminal.red("✗ \(error)"))")
        }
    }
}
