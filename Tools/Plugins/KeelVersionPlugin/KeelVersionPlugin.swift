import Foundation
import PackagePlugin

/// Writes what `keel --version` says before each build.
@main
struct KeelVersionPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = context.pluginWorkDirectoryURL.appending(path: "Version")
        let package = context.package.directoryURL
        // Before each build, since nothing that a build could watch changes with a commit.
        return [
            .prebuildCommand(
                displayName: "Name the version of keel",
                executable: URL(filePath: "/bin/sh"),
                arguments: [
                    package.appending(path: "Plugins/version.sh").path,
                    package.deletingLastPathComponent().path,
                    folder.path,
                ],
                outputFilesDirectory: folder
            )
        ]
    }
}
