import Foundation
import RestaurantsDomain
import RestaurantsPresentation

/// The app as a program: understands the command line, carries the command out, says how it went.
@main
struct RestaurantsApp {
    static func main() async {
        let screen = TerminalScreen.standardOutput
        do {
            let invocation = try CommandLineParser.parse(Array(CommandLine.arguments.dropFirst()))
            if invocation.command == .help {
                screen.show(Help.text)
                return
            }
            try await run(invocation, on: screen)
        } catch let error as UsageError {
            TerminalScreen.standardError.show(ErrorView.render(error, TerminalScreen.errorStyle))
            exit(64)
        } catch let error as DomainError {
            TerminalScreen.standardError.show(ErrorView.render(error, TerminalScreen.errorStyle))
            exit(1)
        } catch {
            TerminalScreen.standardError.show("error: \(error)")
            exit(1)
        }
    }

    private static func run(_ invocation: Invocation, on screen: Screen) async throws {
        let settings = try Settings(invocation, environment: ProcessInfo.processInfo.environment)
        let composition = try Composition(settings)
        let runner = CommandRunner(composition.useCases, on: screen) {
            settings.password ?? TerminalScreen.askForPassword()
        }
        do {
            let user = try settings.user(signedIn: try await composition.signedInUser())
            try await runner.run(invocation.command, as: user)
        } catch {
            await composition.close()
            throw error
        }
        await composition.close()
    }
}
