<?xml version="1.0" encoding="UTF-8"?>
<!--
  Turns an OAI-PMH 2.0 answer into a page for people. Programs read the XML and never load this.

  Everything shown comes from outside: files, their metadata, the request itself. So output escaping
  is never switched off, a value becomes a link only through the template "link" (http, https, ftp),
  and a data: address is written for four image types only. Links to this repository begin with "?",
  so that they stay right behind any proxy.
-->
<xsl:stylesheet version="1.0"
    xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:oai="http://www.openarchives.org/OAI/2.0/"
    xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
    xmlns:oai_id="http://www.openarchives.org/OAI/2.0/oai-identifier"
    xmlns:friends="http://www.openarchives.org/OAI/2.0/friends/"
    xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:dcterms="http://purl.org/dc/terms/"
    xmlns:didl="urn:mpeg:mpeg21:2002:02-DIDL-NS"
    xmlns:dii="urn:mpeg:mpeg21:2002:01-DII-NS"
    xmlns:http="urn:x-garner:http_header"
    xmlns:fixity="urn:x-garner:fixity"
    xmlns:plugin="urn:x-garner:plugin"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    exclude-result-prefixes="oai oai_dc oai_id friends dc dcterms didl dii http fixity plugin xsi">

  <!-- The system identifier keeps browsers out of quirks mode. -->
  <xsl:output method="html" encoding="UTF-8" indent="no" doctype-system="about:legacy-compat"/>
  <xsl:strip-space elements="*"/>

  <xsl:variable name="request" select="/oai:OAI-PMH/oai:request"/>
  <xsl:variable name="errors" select="/oai:OAI-PMH/oai:error"/>
  <xsl:variable name="body"
      select="/oai:OAI-PMH/*[not(self::oai:responseDate or self::oai:request or self::oai:error)][1]"/>

  <!-- Somebody opened the base URL itself: to a program that is an error, to a person the first page. -->
  <xsl:variable name="is-start" select="starts-with($errors[@code = 'badVerb'], 'the verb is missing')"/>

  <!-- A badVerb or badArgument answer names no verb; everything else does, in one place or the other. -->
  <xsl:variable name="verb">
    <xsl:choose>
      <xsl:when test="$body"><xsl:value-of select="local-name($body)"/></xsl:when>
      <xsl:otherwise><xsl:value-of select="$request/@verb"/></xsl:otherwise>
    </xsl:choose>
  </xsl:variable>

  <!-- A request with a resumptionToken does not repeat the prefix, but the metadata gives it away. -->
  <xsl:variable name="prefix">
    <xsl:variable name="metadata" select="$body/oai:record/oai:metadata/*"/>
    <xsl:choose>
      <xsl:when test="$request/@metadataPrefix"><xsl:value-of select="$request/@metadataPrefix"/></xsl:when>
      <xsl:when test="$metadata[self::oai_dc:dc]">oai_dc</xsl:when>
      <xsl:when test="$metadata[self::http:header]">http_header</xsl:when>
      <xsl:when test="$metadata[self::didl:DIDL]">oai_didl</xsl:when>
    </xsl:choose>
  </xsl:variable>

  <!-- The prefix for links to further records: the one in use, else the one every repository has. -->
  <xsl:variable name="link-prefix">
    <xsl:choose>
      <xsl:when test="string($prefix) and not($errors)">
        <xsl:call-template name="query-value"><xsl:with-param name="text" select="$prefix"/></xsl:call-template>
      </xsl:when>
      <xsl:otherwise>oai_dc</xsl:otherwise>
    </xsl:choose>
  </xsl:variable>

  <xsl:variable name="upper" select="'ABCDEFGHIJKLMNOPQRSTUVWXYZ'"/>
  <xsl:variable name="lower" select="'abcdefghijklmnopqrstuvwxyz'"/>
  <xsl:variable name="base64-characters" select="concat($upper, $lower, '0123456789+/=')"/>

  <!-- What "query-value" escapes, and the code of each at three times its position. -->
  <xsl:variable name="escaped">%&amp;+#?="'&lt;&gt;\^`{|};,$@[] &#9;&#10;&#13;</xsl:variable>
  <xsl:variable name="escapes"
      select="'%25%26%2B%23%3F%3D%22%27%3C%3E%5C%5E%60%7B%7C%7D%3B%2C%24%40%5B%5D%20%09%0A%0D'"/>

  <!-- The page ................................................................................ -->

  <xsl:template match="/">
    <xsl:variable name="heading"><xsl:call-template name="heading"/></xsl:variable>
    <html lang="en">
      <head>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta name="color-scheme" content="light dark"/>
        <title><xsl:value-of select="concat($heading, ' · garner')"/></title>
        <style><xsl:call-template name="css"/></style>
      </head>
      <body>
        <a class="gn-skip" href="#content">Skip to the content</a>
        <header class="gn-top">
          <div class="gn-wide">
            <p class="gn-mark">
              <a href="?verb=Identify">garner</a>
              <xsl:text> </xsl:text>
              <span class="gn-base"><xsl:value-of select="$request"/></span>
            </p>
            <xsl:call-template name="verbs"/>
          </div>
        </header>
        <main id="content" class="gn-wide">
          <xsl:if test="string($verb)">
            <p class="gn-verb"><xsl:value-of select="$verb"/></p>
          </xsl:if>
          <h1 dir="auto"><xsl:value-of select="$heading"/></h1>
          <xsl:if test="not($is-start)"><xsl:call-template name="asked"/></xsl:if>
          <xsl:if test="$errors">
            <xsl:apply-templates select="$errors"/>
          </xsl:if>
          <xsl:apply-templates select="$body"/>
        </main>
        <footer class="gn-foot">
          <div class="gn-wide">
            <p>This page is an OAI-PMH 2.0 answer made readable; programs read the XML itself (view source).</p>
          </div>
        </footer>
      </body>
    </html>
  </xsl:template>

  <xsl:template name="heading">
    <xsl:choose>
      <xsl:when test="$errors[@code = 'noRecordsMatch']">Nothing matches this request</xsl:when>
      <xsl:when test="$is-start">OAI-PMH repository</xsl:when>
      <xsl:when test="$errors">This request could not be answered</xsl:when>
      <xsl:when test="$verb = 'Identify'"><xsl:value-of select="$body/oai:repositoryName"/></xsl:when>
      <xsl:when test="$verb = 'ListMetadataFormats'">Metadata formats</xsl:when>
      <xsl:when test="$verb = 'ListSets'">Sets</xsl:when>
      <xsl:when test="$verb = 'ListIdentifiers'">Identifiers</xsl:when>
      <xsl:when test="$verb = 'ListRecords'">Records</xsl:when>
      <xsl:when test="$verb = 'GetRecord'">Record</xsl:when>
      <xsl:otherwise>Answer</xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="verbs">
    <nav aria-label="Verbs">
      <ul class="gn-verbs">
        <xsl:call-template name="verb"><xsl:with-param name="name">Identify</xsl:with-param></xsl:call-template>
        <xsl:call-template name="verb"><xsl:with-param name="name">ListMetadataFormats</xsl:with-param></xsl:call-template>
        <xsl:call-template name="verb"><xsl:with-param name="name">ListSets</xsl:with-param></xsl:call-template>
        <li>
          <a href="?verb=ListIdentifiers&amp;metadataPrefix=oai_dc">
            <xsl:if test="$verb = 'ListIdentifiers'"><xsl:attribute name="aria-current">page</xsl:attribute></xsl:if>
            <xsl:text>ListIdentifiers</xsl:text>
          </a>
        </li>
        <li class="gn-group">
          <span id="gn-records">ListRecords</span>
          <ul aria-labelledby="gn-records">
            <xsl:call-template name="records-verb"><xsl:with-param name="format">oai_dc</xsl:with-param></xsl:call-template>
            <xsl:call-template name="records-verb"><xsl:with-param name="format">http_header</xsl:with-param></xsl:call-template>
            <xsl:call-template name="records-verb"><xsl:with-param name="format">oai_didl</xsl:with-param></xsl:call-template>
          </ul>
        </li>
      </ul>
    </nav>
  </xsl:template>

  <xsl:template name="verb">
    <xsl:param name="name"/>
    <li>
      <a href="?verb={$name}">
        <xsl:if test="$verb = $name"><xsl:attribute name="aria-current">page</xsl:attribute></xsl:if>
        <xsl:value-of select="$name"/>
      </a>
    </li>
  </xsl:template>

  <xsl:template name="records-verb">
    <xsl:param name="format"/>
    <li>
      <a href="?verb=ListRecords&amp;metadataPrefix={$format}">
        <xsl:if test="$verb = 'ListRecords' and $prefix = $format">
          <xsl:attribute name="aria-current">page</xsl:attribute>
        </xsl:if>
        <xsl:value-of select="$format"/>
      </a>
    </li>
  </xsl:template>

  <!-- What was asked, and when it was answered. -->
  <xsl:template name="asked">
    <section class="gn-asked" aria-labelledby="gn-asked">
      <h2 id="gn-asked">Request</h2>
      <xsl:choose>
        <xsl:when test="$request/@*">
          <table class="gn-pairs">
            <tbody>
              <xsl:for-each select="$request/@*">
                <tr>
                  <th scope="row"><xsl:value-of select="name()"/></th>
                  <td dir="auto"><xsl:call-template name="link"/></td>
                </tr>
              </xsl:for-each>
            </tbody>
          </table>
        </xsl:when>
        <xsl:otherwise>
          <p>The protocol does not repeat the arguments of a request that it could not understand.</p>
        </xsl:otherwise>
      </xsl:choose>
      <p class="gn-quiet">
        <xsl:text>Answered </xsl:text>
        <xsl:call-template name="moment"><xsl:with-param name="text" select="/oai:OAI-PMH/oai:responseDate"/></xsl:call-template>
      </p>
    </section>
  </xsl:template>

  <!-- Errors .................................................................................. -->

  <xsl:template match="oai:error">
    <section class="gn-error">
      <xsl:if test="@code = 'noRecordsMatch'">
        <xsl:attribute name="class">gn-error gn-calm</xsl:attribute>
      </xsl:if>
      <xsl:if test="$is-start">
        <xsl:attribute name="class">gn-error gn-start</xsl:attribute>
      </xsl:if>
      <xsl:choose>
        <xsl:when test="$is-start"><h2>Ask this repository</h2></xsl:when>
        <xsl:otherwise><h2><code><xsl:value-of select="@code"/></code></h2></xsl:otherwise>
      </xsl:choose>
      <xsl:if test="string(.) and not($is-start)">
        <p class="gn-said" dir="auto"><xsl:value-of select="."/></p>
      </xsl:if>
      <!-- Several errors may share a code; one piece of advice is enough. -->
      <xsl:if test="not(preceding-sibling::oai:error[@code = current()/@code])">
        <xsl:call-template name="remedy"/>
      </xsl:if>
    </section>
  </xsl:template>

  <xsl:template name="remedy">
    <xsl:variable name="identifier">
      <xsl:call-template name="query-value"><xsl:with-param name="text" select="$request/@identifier"/></xsl:call-template>
    </xsl:variable>
    <xsl:variable name="list">
      <xsl:choose>
        <xsl:when test="$verb = 'ListIdentifiers'">ListIdentifiers</xsl:when>
        <xsl:otherwise>ListRecords</xsl:otherwise>
      </xsl:choose>
    </xsl:variable>
    <xsl:choose>
      <xsl:when test="@code = 'badVerb'">
        <p>A request names exactly one of the six verbs, in this spelling.</p>
        <ul class="gn-next">
          <li><a href="?verb=Identify">Identify: what this repository is</a></li>
          <li><a href="?verb=ListMetadataFormats">ListMetadataFormats: the formats it offers</a></li>
          <li><a href="?verb=ListSets">ListSets: how it is divided</a></li>
          <li><a href="?verb=ListIdentifiers&amp;metadataPrefix=oai_dc">ListIdentifiers: what is in it, in short</a></li>
          <li><a href="?verb=ListRecords&amp;metadataPrefix=oai_dc">ListRecords: what is in it, in full</a></li>
          <li>GetRecord: one record; every list links to it</li>
        </ul>
      </xsl:when>
      <xsl:when test="@code = 'badArgument'">
        <p>
          <xsl:text>An argument is missing, unknown, given twice or written in another way than the protocol allows. </xsl:text>
          <xsl:text>Lists need </xsl:text><code>metadataPrefix</code>
          <xsl:text>, a single record needs </xsl:text><code>identifier</code><xsl:text> as well; dates are </xsl:text>
          <code>2024-05-31</code><xsl:text> or </xsl:text><code>2024-05-31T12:00:00Z</code><xsl:text>.</xsl:text>
        </p>
        <ul class="gn-next">
          <li><a href="?verb=ListIdentifiers&amp;metadataPrefix=oai_dc">List all identifiers</a></li>
          <li><a href="?verb=ListMetadataFormats">See the metadata formats</a></li>
          <li><a href="?verb=Identify">See which dates are understood</a></li>
        </ul>
      </xsl:when>
      <xsl:when test="@code = 'badResumptionToken'">
        <p>The token is damaged, has expired or belongs to another list. A list can be started again from its beginning.</p>
        <ul class="gn-next">
          <xsl:choose>
            <xsl:when test="$verb = 'ListSets'">
              <li><a href="?verb=ListSets">Start ListSets again</a></li>
            </xsl:when>
            <xsl:otherwise>
              <li><a href="?verb={$list}&amp;metadataPrefix=oai_dc">Start <xsl:value-of select="$list"/> again</a></li>
            </xsl:otherwise>
          </xsl:choose>
        </ul>
      </xsl:when>
      <xsl:when test="@code = 'cannotDisseminateFormat'">
        <p>The format is not offered here, or not for this item.</p>
        <ul class="gn-next">
          <xsl:choose>
            <xsl:when test="$request/@identifier">
              <li><a href="?verb=ListMetadataFormats&amp;identifier={$identifier}">See the formats of this item</a></li>
              <li><a href="?verb=GetRecord&amp;metadataPrefix=oai_dc&amp;identifier={$identifier}">See this item in oai_dc</a></li>
            </xsl:when>
            <xsl:otherwise>
              <li><a href="?verb={$list}&amp;metadataPrefix=oai_dc">Ask for oai_dc instead</a></li>
            </xsl:otherwise>
          </xsl:choose>
          <li><a href="?verb=ListMetadataFormats">See all metadata formats</a></li>
        </ul>
      </xsl:when>
      <xsl:when test="@code = 'idDoesNotExist'">
        <p>There is no item with this identifier. An identifier here is the full address of a file, spelled as the lists spell it.</p>
        <ul class="gn-next">
          <li><a href="?verb=ListIdentifiers&amp;metadataPrefix=oai_dc">List all identifiers</a></li>
        </ul>
      </xsl:when>
      <xsl:when test="@code = 'noRecordsMatch'">
        <p>The request is in order, but the dates, the set and the format together leave nothing. That is a normal answer when nothing has changed.</p>
        <ul class="gn-next">
          <li><a href="?verb={$list}&amp;metadataPrefix=oai_dc">Ask without dates and set</a></li>
          <xsl:if test="$request/@set">
            <li><a href="?verb=ListSets">See which sets there are</a></li>
          </xsl:if>
          <xsl:if test="$request/@from or $request/@until">
            <li><a href="?verb=Identify">See the earliest datestamp</a></li>
          </xsl:if>
        </ul>
      </xsl:when>
      <xsl:when test="@code = 'noMetadataFormats'">
        <p>This item has no metadata at present.</p>
        <ul class="gn-next">
          <li><a href="?verb=ListMetadataFormats">See the formats of the whole repository</a></li>
          <li><a href="?verb=ListIdentifiers&amp;metadataPrefix=oai_dc">List all identifiers</a></li>
        </ul>
      </xsl:when>
      <xsl:when test="@code = 'noSetHierarchy'">
        <p>This repository is not divided into sets.</p>
        <ul class="gn-next">
          <li><a href="?verb=ListRecords&amp;metadataPrefix=oai_dc">List all records</a></li>
        </ul>
      </xsl:when>
      <xsl:otherwise>
        <ul class="gn-next">
          <li><a href="?verb=Identify">Start at Identify</a></li>
        </ul>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Identify ................................................................................ -->

  <xsl:template match="oai:Identify">
    <section aria-labelledby="gn-facts">
      <h2 id="gn-facts">About this repository</h2>
      <dl class="gn-facts gn-card">
        <dt>Name</dt>
        <dd dir="auto"><xsl:value-of select="oai:repositoryName"/></dd>
        <dt>Base URL</dt>
        <dd><xsl:value-of select="oai:baseURL"/></dd>
        <dt>Protocol</dt>
        <dd><xsl:value-of select="concat('OAI-PMH ', oai:protocolVersion)"/></dd>
        <dt>Run by</dt>
        <xsl:for-each select="oai:adminEmail"><dd><xsl:value-of select="."/></dd></xsl:for-each>
        <dt>Earliest datestamp</dt>
        <dd>
          <xsl:call-template name="moment"><xsl:with-param name="text" select="oai:earliestDatestamp"/></xsl:call-template>
          <span class="gn-quiet"> No record is older than this.</span>
        </dd>
        <dt>Deleted records</dt>
        <dd>
          <xsl:choose>
            <xsl:when test="oai:deletedRecord = 'persistent'">Remembered for good: every removal stays on record.</xsl:when>
            <xsl:when test="oai:deletedRecord = 'transient'">Remembered for a while: a removal may be forgotten later.</xsl:when>
            <xsl:when test="oai:deletedRecord = 'no'">Not remembered: what is removed simply disappears.</xsl:when>
          </xsl:choose>
          <xsl:text> </xsl:text><code><xsl:value-of select="oai:deletedRecord"/></code>
        </dd>
        <dt>Granularity</dt>
        <dd>
          <xsl:choose>
            <xsl:when test="oai:granularity = 'YYYY-MM-DD'">Datestamps are exact to the day.</xsl:when>
            <xsl:when test="oai:granularity = 'YYYY-MM-DDThh:mm:ssZ'">Datestamps are exact to the second.</xsl:when>
          </xsl:choose>
          <xsl:text> </xsl:text><code><xsl:value-of select="oai:granularity"/></code>
        </dd>
        <xsl:if test="oai:compression">
          <dt>Compression</dt>
          <dd>
            <xsl:text>On request: </xsl:text>
            <xsl:for-each select="oai:compression">
              <xsl:if test="position() &gt; 1">, </xsl:if>
              <code><xsl:value-of select="."/></code>
            </xsl:for-each>
          </dd>
        </xsl:if>
      </dl>
    </section>
    <xsl:for-each select="oai:description">
      <section class="gn-card">
        <h2>
          <xsl:choose>
            <xsl:when test="oai_id:oai-identifier">How identifiers are made</xsl:when>
            <xsl:when test="friends:friends">Friendly repositories</xsl:when>
            <xsl:otherwise>Description: <xsl:value-of select="local-name(*)"/></xsl:otherwise>
          </xsl:choose>
        </h2>
        <xsl:apply-templates select="node()" mode="metadata"/>
      </section>
    </xsl:for-each>
  </xsl:template>

  <!-- ListMetadataFormats ..................................................................... -->

  <xsl:template match="oai:ListMetadataFormats">
    <xsl:variable name="identifier">
      <xsl:call-template name="query-value"><xsl:with-param name="text" select="$request/@identifier"/></xsl:call-template>
    </xsl:variable>
    <table class="gn-list" role="table">
      <caption>
        <xsl:choose>
          <xsl:when test="$request/@identifier">The formats in which this one item is offered.</xsl:when>
          <xsl:otherwise>The formats in which records are offered.</xsl:otherwise>
        </xsl:choose>
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">Prefix</th>
          <th scope="col" role="columnheader">Namespace and schema</th>
          <th scope="col" role="columnheader">Look at</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        <xsl:for-each select="oai:metadataFormat">
          <xsl:variable name="format">
            <xsl:call-template name="query-value"><xsl:with-param name="text" select="oai:metadataPrefix"/></xsl:call-template>
          </xsl:variable>
          <tr role="row">
            <th scope="row" role="rowheader"><code><xsl:value-of select="oai:metadataPrefix"/></code></th>
            <td role="cell" data-label="Namespace and schema">
              <div><xsl:call-template name="link"><xsl:with-param name="text" select="oai:metadataNamespace"/></xsl:call-template></div>
              <div><xsl:call-template name="link"><xsl:with-param name="text" select="oai:schema"/></xsl:call-template></div>
            </td>
            <td role="cell" data-label="Look at" class="gn-look">
              <ul class="gn-links">
                <xsl:choose>
                  <xsl:when test="$request/@identifier">
                    <li><a href="?verb=GetRecord&amp;metadataPrefix={$format}&amp;identifier={$identifier}">the record</a></li>
                  </xsl:when>
                  <xsl:otherwise>
                    <li><a href="?verb=ListRecords&amp;metadataPrefix={$format}">records</a></li>
                    <li><a href="?verb=ListIdentifiers&amp;metadataPrefix={$format}">identifiers</a></li>
                  </xsl:otherwise>
                </xsl:choose>
              </ul>
            </td>
          </tr>
        </xsl:for-each>
      </tbody>
    </table>
  </xsl:template>

  <!-- ListSets ................................................................................ -->

  <xsl:template match="oai:ListSets">
    <xsl:call-template name="pages"><xsl:with-param name="shown" select="oai:set"/></xsl:call-template>
    <table class="gn-list" role="table">
      <caption class="gn-hidden">Sets</caption>
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">Set</th>
          <th scope="col" role="columnheader">Name</th>
          <th scope="col" role="columnheader">Look at</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        <xsl:for-each select="oai:set">
          <xsl:variable name="depth"
              select="string-length(oai:setSpec) - string-length(translate(oai:setSpec, ':', ''))"/>
          <xsl:variable name="set">
            <xsl:call-template name="query-value"><xsl:with-param name="text" select="oai:setSpec"/></xsl:call-template>
          </xsl:variable>
          <tr role="row">
            <th scope="row" role="rowheader">
              <xsl:attribute name="class">
                <xsl:choose>
                  <xsl:when test="$depth &gt; 4">gn-depth-4</xsl:when>
                  <xsl:otherwise><xsl:value-of select="concat('gn-depth-', $depth)"/></xsl:otherwise>
                </xsl:choose>
              </xsl:attribute>
              <code>
                <xsl:call-template name="set-spec"><xsl:with-param name="rest" select="oai:setSpec"/></xsl:call-template>
              </code>
            </th>
            <td role="cell" data-label="Name" dir="auto">
              <xsl:value-of select="oai:setName"/>
              <xsl:for-each select="oai:setDescription">
                <div class="gn-about"><xsl:apply-templates select="node()" mode="metadata"/></div>
              </xsl:for-each>
            </td>
            <td role="cell" data-label="Look at" class="gn-look">
              <ul class="gn-links">
                <li><a href="?verb=ListRecords&amp;metadataPrefix=oai_dc&amp;set={$set}">records</a></li>
                <li><a href="?verb=ListIdentifiers&amp;metadataPrefix=oai_dc&amp;set={$set}">identifiers</a></li>
              </ul>
            </td>
          </tr>
        </xsl:for-each>
      </tbody>
    </table>
    <xsl:call-template name="pages"><xsl:with-param name="shown" select="oai:set"/><xsl:with-param name="end" select="true()"/></xsl:call-template>
  </xsl:template>

  <!-- A setSpec with the ancestors dimmed, so that the eye finds what this set adds. -->
  <xsl:template name="set-spec">
    <xsl:param name="rest" select="."/>
    <xsl:choose>
      <xsl:when test="contains($rest, ':')">
        <span class="gn-dim"><xsl:value-of select="concat(substring-before($rest, ':'), ':')"/></span>
        <wbr/>
        <xsl:call-template name="set-spec">
          <xsl:with-param name="rest" select="substring-after($rest, ':')"/>
        </xsl:call-template>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="$rest"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- ListIdentifiers ......................................................................... -->

  <xsl:template match="oai:ListIdentifiers">
    <xsl:call-template name="pages"><xsl:with-param name="shown" select="oai:header"/></xsl:call-template>
    <table class="gn-list" role="table">
      <caption class="gn-hidden">Identifiers</caption>
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">Identifier</th>
          <th scope="col" role="columnheader">Datestamp</th>
          <th scope="col" role="columnheader">Sets</th>
          <th scope="col" role="columnheader">Record</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        <xsl:for-each select="oai:header">
          <tr role="row">
            <xsl:if test="@status = 'deleted'"><xsl:attribute name="class">gn-gone</xsl:attribute></xsl:if>
            <th scope="row" role="rowheader" class="gn-id"><xsl:call-template name="identifier"/></th>
            <td role="cell" data-label="Datestamp" class="gn-when">
              <xsl:call-template name="moment"><xsl:with-param name="text" select="oai:datestamp"/></xsl:call-template>
            </td>
            <td role="cell" data-label="Sets" class="gn-sets"><xsl:call-template name="sets"/></td>
            <td role="cell" data-label="Record" class="gn-look"><xsl:call-template name="formats"/></td>
          </tr>
        </xsl:for-each>
      </tbody>
    </table>
    <xsl:call-template name="pages"><xsl:with-param name="shown" select="oai:header"/><xsl:with-param name="end" select="true()"/></xsl:call-template>
  </xsl:template>

  <!-- Records ................................................................................. -->

  <xsl:template match="oai:ListRecords">
    <xsl:call-template name="pages"><xsl:with-param name="shown" select="oai:record"/></xsl:call-template>
    <xsl:apply-templates select="oai:record"/>
    <xsl:call-template name="pages"><xsl:with-param name="shown" select="oai:record"/><xsl:with-param name="end" select="true()"/></xsl:call-template>
  </xsl:template>

  <xsl:template match="oai:GetRecord">
    <xsl:apply-templates select="oai:record"/>
  </xsl:template>

  <xsl:template match="oai:record">
    <article class="gn-card">
      <xsl:if test="oai:header/@status = 'deleted'">
        <xsl:attribute name="class">gn-card gn-gone</xsl:attribute>
      </xsl:if>
      <xsl:for-each select="oai:header">
        <h2 class="gn-id"><xsl:call-template name="identifier"/></h2>
        <dl class="gn-head">
          <div>
            <dt>Datestamp</dt>
            <dd><xsl:call-template name="moment"><xsl:with-param name="text" select="oai:datestamp"/></xsl:call-template></dd>
          </div>
          <xsl:if test="oai:setSpec">
            <div>
              <dt>Sets</dt>
              <dd><xsl:call-template name="sets"/></dd>
            </div>
          </xsl:if>
          <div>
            <dt>Formats</dt>
            <dd><xsl:call-template name="formats"/></dd>
          </div>
        </dl>
        <xsl:if test="@status = 'deleted'">
          <p class="gn-note">This resource has been removed. Its record stays, so that those who hold a copy hear of it; the datestamp says when the removal was noticed.</p>
        </xsl:if>
      </xsl:for-each>
      <xsl:apply-templates select="oai:metadata/node()" mode="metadata"/>
      <xsl:for-each select="oai:about">
        <div class="gn-block">
          <h3>About this record</h3>
          <xsl:apply-templates select="node()" mode="metadata"/>
        </div>
      </xsl:for-each>
    </article>
  </xsl:template>

  <!-- Parts of a record's header, shared by lists and cards ................................... -->

  <xsl:template name="identifier">
    <xsl:call-template name="link"><xsl:with-param name="text" select="oai:identifier"/></xsl:call-template>
    <xsl:if test="@status = 'deleted'">
      <xsl:text> </xsl:text><strong class="gn-flag">deleted</strong>
    </xsl:if>
  </xsl:template>

  <xsl:template name="sets">
    <xsl:variable name="list">
      <xsl:choose>
        <xsl:when test="$verb = 'ListIdentifiers'">ListIdentifiers</xsl:when>
        <xsl:otherwise>ListRecords</xsl:otherwise>
      </xsl:choose>
    </xsl:variable>
    <xsl:choose>
      <xsl:when test="oai:setSpec">
        <ul class="gn-links">
          <xsl:for-each select="oai:setSpec">
            <xsl:variable name="set"><xsl:call-template name="query-value"/></xsl:variable>
            <li><a href="?verb={$list}&amp;metadataPrefix={$link-prefix}&amp;set={$set}"><xsl:call-template name="set-spec"/></a></li>
          </xsl:for-each>
        </ul>
      </xsl:when>
      <xsl:otherwise><span class="gn-quiet">none</span></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="formats">
    <xsl:variable name="identifier">
      <xsl:call-template name="query-value"><xsl:with-param name="text" select="oai:identifier"/></xsl:call-template>
    </xsl:variable>
    <ul class="gn-links">
      <xsl:call-template name="format">
        <xsl:with-param name="name">oai_dc</xsl:with-param>
        <xsl:with-param name="identifier" select="$identifier"/>
      </xsl:call-template>
      <xsl:call-template name="format">
        <xsl:with-param name="name">http_header</xsl:with-param>
        <xsl:with-param name="identifier" select="$identifier"/>
      </xsl:call-template>
      <xsl:call-template name="format">
        <xsl:with-param name="name">oai_didl</xsl:with-param>
        <xsl:with-param name="identifier" select="$identifier"/>
      </xsl:call-template>
    </ul>
  </xsl:template>

  <xsl:template name="format">
    <xsl:param name="name"/>
    <xsl:param name="identifier"/>
    <li>
      <a href="?verb=GetRecord&amp;metadataPrefix={$name}&amp;identifier={$identifier}">
        <xsl:if test="$verb = 'GetRecord' and $prefix = $name">
          <xsl:attribute name="aria-current">page</xsl:attribute>
        </xsl:if>
        <xsl:value-of select="$name"/>
      </a>
    </li>
  </xsl:template>

  <!-- Metadata: oai_dc ........................................................................ -->

  <xsl:template match="oai_dc:dc" mode="metadata">
    <dl class="gn-facts">
      <xsl:for-each select="*">
        <xsl:if test="not(preceding-sibling::*[1][name() = name(current())])">
          <dt><xsl:call-template name="label"/></dt>
        </xsl:if>
        <dd dir="auto">
          <xsl:if test="@xml:lang">
            <xsl:attribute name="lang"><xsl:value-of select="@xml:lang"/></xsl:attribute>
          </xsl:if>
          <xsl:call-template name="link"/>
        </dd>
      </xsl:for-each>
    </dl>
  </xsl:template>

  <!-- Metadata: http_header ................................................................... -->

  <xsl:template match="http:header" mode="metadata">
    <table class="gn-pairs">
      <caption>
        <xsl:text>HTTP status </xsl:text><strong><xsl:value-of select="@status"/></strong>
      </caption>
      <tbody>
        <xsl:for-each select="http:field">
          <tr>
            <th scope="row"><xsl:value-of select="@name"/></th>
            <td dir="auto"><xsl:call-template name="link"/></td>
          </tr>
        </xsl:for-each>
      </tbody>
    </table>
  </xsl:template>

  <!-- Metadata: oai_didl ...................................................................... -->

  <xsl:template match="didl:DIDL" mode="metadata">
    <xsl:if test="@DIDLDocumentId">
      <p class="gn-quiet">
        <xsl:text>Document </xsl:text>
        <xsl:call-template name="link"><xsl:with-param name="text" select="@DIDLDocumentId"/></xsl:call-template>
      </p>
    </xsl:if>
    <xsl:apply-templates select="node()" mode="metadata"/>
  </xsl:template>

  <xsl:template match="didl:Item | didl:Component" mode="metadata">
    <section class="gn-part">
      <h3>
        <xsl:value-of select="local-name()"/>
        <xsl:if test="@id"><xsl:text> </xsl:text><code><xsl:value-of select="@id"/></code></xsl:if>
      </h3>
      <xsl:variable name="statements" select="didl:Descriptor/didl:Statement"/>
      <xsl:variable name="facts" select="$statements/dii:Identifier | $statements/dcterms:* | $statements/fixity:fixity/fixity:digest"/>
      <xsl:if test="$facts">
        <dl class="gn-facts">
          <xsl:for-each select="$facts">
            <xsl:choose>
              <xsl:when test="self::fixity:digest">
                <dt><xsl:value-of select="@algorithm"/></dt>
                <dd class="gn-digest"><xsl:value-of select="."/></dd>
              </xsl:when>
              <xsl:when test="self::dcterms:modified or self::dcterms:created">
                <dt><xsl:call-template name="label"/></dt>
                <dd><xsl:call-template name="moment"><xsl:with-param name="text" select="."/></xsl:call-template></dd>
              </xsl:when>
              <xsl:otherwise>
                <dt><xsl:call-template name="label"/></dt>
                <dd dir="auto"><xsl:call-template name="link"/></dd>
              </xsl:otherwise>
            </xsl:choose>
          </xsl:for-each>
        </dl>
      </xsl:if>
      <xsl:apply-templates select="node()" mode="metadata"/>
    </section>
  </xsl:template>

  <xsl:template match="didl:Descriptor" mode="metadata">
    <xsl:apply-templates select="node()" mode="metadata"/>
  </xsl:template>

  <!-- Statements that "Item" has already shown among its facts. -->
  <xsl:template match="didl:Statement[dii:Identifier or dcterms:* or fixity:fixity]" mode="metadata" priority="2"/>

  <xsl:template match="didl:Statement" mode="metadata">
    <div class="gn-block">
      <xsl:choose>
        <xsl:when test="oai_dc:dc"><h4>Dublin Core</h4></xsl:when>
        <xsl:when test="http:header"><h4>HTTP header</h4></xsl:when>
        <xsl:when test="plugin:plugin"/>
        <xsl:otherwise><h4>Statement <code><xsl:value-of select="@mimeType"/></code></h4></xsl:otherwise>
      </xsl:choose>
      <xsl:if test="@ref">
        <p><xsl:call-template name="link"><xsl:with-param name="text" select="@ref"/></xsl:call-template></p>
      </xsl:if>
      <xsl:choose>
        <xsl:when test="@encoding = 'base64'"><xsl:call-template name="base64"/></xsl:when>
        <xsl:otherwise><xsl:apply-templates select="node()" mode="metadata"/></xsl:otherwise>
      </xsl:choose>
    </div>
  </xsl:template>

  <xsl:template match="didl:Resource" mode="metadata">
    <div class="gn-block">
      <h4>
        <xsl:choose>
          <xsl:when test="@ref">Resource by reference </xsl:when>
          <xsl:otherwise>Resource by value </xsl:otherwise>
        </xsl:choose>
        <code><xsl:value-of select="@mimeType"/></code>
      </h4>
      <xsl:if test="@contentEncoding">
        <p class="gn-quiet">Encoded with <xsl:value-of select="@contentEncoding"/></p>
      </xsl:if>
      <xsl:choose>
        <xsl:when test="@ref">
          <p><xsl:call-template name="link"><xsl:with-param name="text" select="@ref"/></xsl:call-template></p>
        </xsl:when>
        <xsl:when test="@encoding = 'base64'"><xsl:call-template name="base64"/></xsl:when>
        <xsl:otherwise><xsl:apply-templates select="node()" mode="metadata"/></xsl:otherwise>
      </xsl:choose>
    </div>
  </xsl:template>

  <!-- The bytes themselves help nobody on a page, except those of a small picture. -->
  <xsl:template name="base64">
    <xsl:variable name="length" select="string-length(translate(., ' &#9;&#10;&#13;', ''))"/>
    <xsl:variable name="padding" select="string-length(.) - string-length(translate(., '=', ''))"/>
    <p>
      <xsl:value-of select="concat(format-number(floor($length * 3 div 4) - $padding, '#,##0'), ' bytes, as ')"/>
      <xsl:value-of select="concat(format-number($length, '#,##0'), ' base64 characters')"/>
    </p>
    <xsl:variable name="type"
        select="normalize-space(substring-before(concat(translate(@mimeType, $upper, $lower), ';'), ';'))"/>
    <xsl:if test="$length &gt; 0 and $length &lt; 100000 and not(@contentEncoding)">
      <xsl:variable name="bytes" select="translate(., ' &#9;&#10;&#13;', '')"/>
      <xsl:if test="translate($bytes, $base64-characters, '') = ''
                    and ($type = 'image/png' or $type = 'image/jpeg' or $type = 'image/gif' or $type = 'image/webp')">
        <img class="gn-picture" alt="The resource itself" src="data:{$type};base64,{$bytes}"/>
      </xsl:if>
    </xsl:if>
  </xsl:template>

  <!-- Plug-ins: pairs, text, a failure or XML of their own .................................... -->

  <xsl:template match="plugin:plugin" mode="metadata">
    <h4><xsl:value-of select="@name"/> <span class="gn-quiet"> plug-in</span></h4>
    <xsl:for-each select="plugin:failed">
      <p class="gn-note">No result: <xsl:value-of select="."/></p>
    </xsl:for-each>
    <xsl:if test="plugin:value">
      <dl class="gn-facts">
        <xsl:for-each select="plugin:value">
          <dt><xsl:value-of select="@name"/></dt>
          <dd dir="auto"><xsl:call-template name="link"/></dd>
        </xsl:for-each>
      </dl>
    </xsl:if>
    <xsl:apply-templates select="node()[not(self::plugin:failed or self::plugin:value)]" mode="metadata"/>
  </xsl:template>

  <xsl:template match="plugin:text" mode="metadata">
    <pre dir="auto" tabindex="0"><xsl:value-of select="."/></pre>
  </xsl:template>

  <!-- Any other XML: an indented tree ......................................................... -->

  <xsl:template match="*" mode="metadata">
    <ul class="gn-tree"><xsl:apply-templates select="." mode="tree"/></ul>
  </xsl:template>

  <xsl:template match="text()" mode="metadata">
    <p class="gn-text" dir="auto"><xsl:call-template name="link"/></p>
  </xsl:template>

  <xsl:template match="comment() | processing-instruction()" mode="metadata"/>

  <xsl:template match="*" mode="tree">
    <li>
      <span class="gn-tag"><xsl:value-of select="name()"/></span>
      <xsl:if test="namespace-uri() != namespace-uri(..)">
        <span class="gn-quiet"> <xsl:value-of select="concat(' ', namespace-uri())"/></span>
      </xsl:if>
      <xsl:for-each select="@*[not(namespace-uri() = 'http://www.w3.org/2001/XMLSchema-instance')]">
        <span class="gn-attribute">
          <xsl:value-of select="concat(' ', name(), ' = ')"/>
          <xsl:call-template name="link"/>
        </span>
      </xsl:for-each>
      <xsl:choose>
        <xsl:when test="*"><ul><xsl:apply-templates select="node()" mode="tree"/></ul></xsl:when>
        <xsl:when test="string(.)">
          <span class="gn-value" dir="auto"><xsl:text> </xsl:text><xsl:call-template name="link"/></span>
        </xsl:when>
      </xsl:choose>
    </li>
  </xsl:template>

  <xsl:template match="text()" mode="tree">
    <li class="gn-value" dir="auto"><xsl:call-template name="link"/></li>
  </xsl:template>

  <xsl:template match="comment() | processing-instruction()" mode="tree"/>

  <!-- Pages of a list: above it when it is long, and always below ............................. -->

  <xsl:template name="pages">
    <xsl:param name="shown"/>
    <xsl:param name="end" select="false()"/>
    <xsl:variable name="token" select="oai:resumptionToken"/>
    <xsl:variable name="count" select="count($shown)"/>
    <xsl:if test="not($end) or string($token) or ($token and $count &gt; 8)">
      <nav class="gn-pages">
        <xsl:attribute name="aria-label">
          <xsl:choose>
            <xsl:when test="$end">Pages, below the list</xsl:when>
            <xsl:otherwise>Pages, above the list</xsl:otherwise>
          </xsl:choose>
        </xsl:attribute>
        <p>
          <xsl:call-template name="range">
            <xsl:with-param name="token" select="$token"/>
            <xsl:with-param name="count" select="$count"/>
          </xsl:call-template>
          <xsl:if test="$end and string($token) and $token/@expirationDate">
            <span class="gn-quiet">
              <xsl:text> The next page can be asked for until </xsl:text>
              <xsl:call-template name="moment"><xsl:with-param name="text" select="$token/@expirationDate"/></xsl:call-template>
            </span>
          </xsl:if>
        </p>
        <xsl:if test="normalize-space($token) and ($end or $count &gt; 8)">
          <xsl:variable name="value">
            <xsl:call-template name="query-value"><xsl:with-param name="text" select="normalize-space($token)"/></xsl:call-template>
          </xsl:variable>
          <a class="gn-button" rel="next" href="?verb={$verb}&amp;resumptionToken={$value}">Next page</a>
        </xsl:if>
      </nav>
    </xsl:if>
  </xsl:template>

  <!-- completeListSize may be an estimate: one that this page already exceeds is not repeated. -->
  <xsl:template name="range">
    <xsl:param name="token"/>
    <xsl:param name="count"/>
    <xsl:variable name="one">
      <xsl:choose>
        <xsl:when test="$verb = 'ListSets'">Set</xsl:when>
        <xsl:when test="$verb = 'ListIdentifiers'">Identifier</xsl:when>
        <xsl:otherwise>Record</xsl:otherwise>
      </xsl:choose>
    </xsl:variable>
    <xsl:variable name="first" select="number($token/@cursor) + 1"/>
    <xsl:variable name="last" select="number($token/@cursor) + $count"/>
    <xsl:variable name="total" select="number($token/@completeListSize)"/>
    <xsl:choose>
      <xsl:when test="$first &gt; 0 and $count &gt; 0">
        <xsl:choose>
          <xsl:when test="$count = 1"><xsl:value-of select="concat($one, ' ', format-number($first, '#,##0'))"/></xsl:when>
          <xsl:otherwise>
            <xsl:value-of select="concat($one, 's ', format-number($first, '#,##0'), ' to ', format-number($last, '#,##0'))"/>
          </xsl:otherwise>
        </xsl:choose>
        <xsl:if test="$total &gt;= $last">
          <xsl:value-of select="concat(' of ', format-number($total, '#,##0'))"/>
        </xsl:if>
        <xsl:if test="$token and not(string($token))">; this is the last page</xsl:if>
      </xsl:when>
      <xsl:otherwise>
        <xsl:value-of select="concat(format-number($count, '#,##0'), ' ', translate($one, $upper, $lower))"/>
        <xsl:if test="$count != 1">s</xsl:if>
        <xsl:if test="$token"> on this page</xsl:if>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Values .................................................................................. -->

  <!-- The text, as a link where it is an address of a scheme that does no harm. -->
  <xsl:template name="link">
    <xsl:param name="text" select="."/>
    <xsl:variable name="address" select="normalize-space($text)"/>
    <xsl:variable name="start" select="translate(substring($address, 1, 8), $upper, $lower)"/>
    <xsl:choose>
      <xsl:when test="not(contains($address, ' '))
                      and (starts-with($start, 'http://') or starts-with($start, 'https://') or starts-with($start, 'ftp://'))">
        <a href="{$address}" rel="noreferrer"><xsl:value-of select="$address"/></a>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="$text"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="moment">
    <xsl:param name="text"/>
    <time datetime="{$text}">
      <xsl:choose>
        <xsl:when test="string-length($text) = 20 and substring($text, 11, 1) = 'T' and substring($text, 20) = 'Z'">
          <xsl:value-of select="concat(substring($text, 1, 10), ' ', substring($text, 12, 8), ' UTC')"/>
        </xsl:when>
        <xsl:otherwise><xsl:value-of select="$text"/></xsl:otherwise>
      </xsl:choose>
    </time>
  </xsl:template>

  <!-- The element's name as a word: "title" is "Title". -->
  <xsl:template name="label">
    <xsl:value-of select="concat(translate(substring(local-name(), 1, 1), $lower, $upper), substring(local-name(), 2))"/>
  </xsl:template>

  <!-- The text as one value of a query. It is halved until a piece needs no escape or is a single
       character: processors limit the depth of templates, and an identifier of a few thousand
       characters may be nothing but percent signs and digits. -->
  <xsl:template name="query-value">
    <xsl:param name="text" select="."/>
    <xsl:variable name="length" select="string-length($text)"/>
    <xsl:choose>
      <xsl:when test="translate($text, $escaped, '') = string($text)"><xsl:value-of select="$text"/></xsl:when>
      <xsl:when test="$length = 1">
        <xsl:value-of select="substring($escapes, 3 * string-length(substring-before($escaped, $text)) + 1, 3)"/>
      </xsl:when>
      <xsl:otherwise>
        <xsl:variable name="half" select="floor($length div 2)"/>
        <xsl:call-template name="query-value"><xsl:with-param name="text" select="substring($text, 1, $half)"/></xsl:call-template>
        <xsl:call-template name="query-value"><xsl:with-param name="text" select="substring($text, $half + 1)"/></xsl:call-template>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Looks ................................................................................... -->

  <xsl:template name="css">
